use super::{Addressing, Vocabulary};

pub(super) const VOCABULARY: Vocabulary = Vocabulary {
    asking: "samenvatten samenvatting beschrijf beschrijven beschrijving uitleggen uitleg bespreken \
        besproken discussie vertel vertellen vertelde zeggen zei gezegd noemen genoemd noemde vermeld \
        denken denkt dacht mening opvatting volgens gesprek lijst opsommen volgorde geef geven vragen \
        gevraagd antwoorden antwoord houding betreffende manier wijze soort type aspect verschillende \
        diverse",
    months: [
        "januari jan",
        "februari feb",
        "maart mrt",
        "april apr",
        "mei",
        "juni jun",
        "juli jul",
        "augustus aug",
        "september sep sept",
        "oktober okt",
        "november nov",
        "december dec",
    ],
    between_day_and_month: "",
    addressing: Addressing {
        pairs: &[
            (
                "je jij u",
                "gezegd aanbevolen aangeraden voorgesteld genoemd uitgelegd verteld gegeven \
                 geschreven opgesomd beschreven geadviseerd geantwoord",
            ),
            ("zei raadde noemde adviseerde", "je jij u"),
            (
                "je jouw uw",
                "antwoord antwoorden advies adviezen aanbeveling aanbevelingen suggestie suggesties \
                 voorstel uitleg",
            ),
        ],
        reach: 3,
        phrases: &[],
    },
};
