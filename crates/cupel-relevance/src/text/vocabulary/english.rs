use super::{Addressing, Vocabulary};

pub(super) const VOCABULARY: Vocabulary = Vocabulary {
    asking: "summarize summarise summary describe description explain explanation discuss \
        discussion tell talk say said mention mentioned think thought opinion view according \
        conversation list order give ask bring brought walk respond response attitude regarding way \
        kind type sort aspect item different various throughout across",
    months: [
        "january jan",
        "february feb",
        "march",
        "april apr",
        "may",
        "june jun",
        "july jul",
        "august aug",
        "september sep sept",
        "october oct",
        "november nov",
        "december dec",
    ],
    between_day_and_month: "of",
    addressing: Addressing {
        pairs: &[
            ("did had have were", "you"),
            (
                "you",
                "advised describe described explained gave listed mentioned proposed provided \
                 recommend recommended said shared suggest suggested told wrote",
            ),
            (
                "your",
                "advice answer recommendation recommendations reply response suggestion suggestions",
            ),
        ],
        reach: 1,
        phrases: &[],
    },
};
