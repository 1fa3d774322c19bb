use super::{Addressing, Vocabulary};

pub(super) const VOCABULARY: Vocabulary = Vocabulary {
    asking: "zusammenfassen zusammenfassung beschreibe beschreiben beschreibung erkläre erklären \
        erklärung diskutieren diskussion besprechen besprochen erzähle erzählen erzählt sagen sagte \
        gesagt erwähnen erwähnt erwähnte denken dachte meinen meinung ansicht laut gespräch \
        unterhaltung liste auflisten reihenfolge nenne nennen gib geben fragen gefragt antworten \
        antwort haltung bezüglich hinsichtlich weise art arten aspekt aspekte verschiedene \
        unterschiedliche",
    months: [
        "januar jänner jan",
        "februar feber feb",
        "märz maerz",
        "april apr",
        "mai",
        "juni jun",
        "juli jul",
        "august aug",
        "september sep sept",
        "oktober okt",
        "november nov",
        "dezember dez",
    ],
    between_day_and_month: "",
    addressing: Addressing {
        pairs: &[
            (
                "hast hattest habt",
                "gesagt empfohlen vorgeschlagen geraten genannt erwähnt erklärt gegeben geschrieben \
                 beschrieben aufgelistet aufgezählt erzählt gemeint geantwortet",
            ),
            ("sagtest empfahlst nanntest schriebst erklärtest meintest erwähntest", ""),
            (
                "dein deine deinen deinem deiner",
                "antwort antworten empfehlung empfehlungen rat ratschlag ratschläge vorschlag \
                 vorschläge vorschlägen tipp tipps erklärung",
            ),
        ],
        reach: 5,
        phrases: &["haben Sie", "hatten Sie", "Ihre Empfehlung", "Ihr Vorschlag", "Ihre Antwort"],
    },
};
