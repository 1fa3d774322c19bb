use super::{Addressing, Vocabulary};

pub(super) const VOCABULARY: Vocabulary = Vocabulary {
    asking: "resumir resuma resumo descrever descreva descrição explicar explique explicação discutir \
        discussão falar fale falou falaram dizer disse dito mencionar mencionou mencionado pensar \
        pensa opinião conversa lista listar liste ordem dar dê perguntar perguntou responder resposta \
        atitude respeito maneira forma tipo aspecto diferentes diversos vários",
    months: [
        "janeiro",
        "fevereiro",
        "março",
        "abril",
        "maio",
        "junho",
        "julho",
        "agosto",
        "setembro",
        "outubro",
        "novembro",
        "dezembro",
    ],
    between_day_and_month: "de",
    addressing: Addressing {
        pairs: &[
            (
                "você vocês",
                "disse disseram recomendou sugeriu mencionou explicou propôs aconselhou deu escreveu \
                 descreveu indicou listou respondeu",
            ),
            ("disseste recomendaste sugeriste mencionaste explicaste aconselhaste", ""),
            (
                "teu teus tua tuas seu seus sua suas",
                "resposta respostas conselho conselhos recomendação recomendações sugestão sugestões \
                 proposta",
            ),
        ],
        reach: 3,
        phrases: &[],
    },
};
