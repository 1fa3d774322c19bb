use super::{Addressing, Vocabulary};

pub(super) const VOCABULARY: Vocabulary = Vocabulary {
    asking: "résumer résume résumé décrire décris description expliquer explique explication discuter \
        discussion raconter raconte parler parle parlé dire dit dis mentionner mentionné penser pense \
        opinion avis selon conversation liste lister ordre donner donne demander demandé répondre \
        réponse attitude concernant façon manière genre type sorte aspect différent différents divers",
    months: [
        "janvier janv",
        "février fevrier févr",
        "mars",
        "avril avr",
        "mai",
        "juin",
        "juillet juil",
        "août aout",
        "septembre sept",
        "octobre oct",
        "novembre nov",
        "décembre decembre déc",
    ],
    between_day_and_month: "",
    addressing: Addressing {
        pairs: &[
            (
                "as avais avez aviez",
                "dit recommandé conseillé proposé suggéré expliqué mentionné donné décrit indiqué \
                 écrit listé cité répondu",
            ),
            (
                "ta ton tes votre vos",
                "réponse réponses conseil conseils recommandation recommandations suggestion \
                 suggestions proposition propositions avis explication",
            ),
        ],
        reach: 3,
        phrases: &[],
    },
};
