use super::{Addressing, Vocabulary};

pub(super) const VOCABULARY: Vocabulary = Vocabulary {
    asking: "riassumere riassumi riassunto descrivere descrivi descrizione spiegare spiega spiegazione \
        discutere discussione raccontare racconta parlare parla parlato dire detto disse menzionare \
        menzionato pensare pensa opinione parere conversazione elenca elencare elenco lista ordine \
        dare dammi chiedere chiesto rispondere risposta atteggiamento riguardo modo maniera tipo \
        genere aspetto diversi differenti vari",
    months: [
        "gennaio",
        "febbraio",
        "marzo",
        "aprile",
        "maggio",
        "giugno",
        "luglio",
        "agosto",
        "settembre",
        "ottobre",
        "novembre",
        "dicembre",
    ],
    between_day_and_month: "di",
    addressing: Addressing {
        pairs: &[
            (
                "hai avevi avete",
                "detto consigliato suggerito raccomandato proposto spiegato menzionato elencato dato \
                 scritto descritto indicato citato risposto",
            ),
            (
                "tuo tua tuoi tue",
                "risposta risposte consiglio consigli suggerimento suggerimenti raccomandazione \
                 raccomandazioni proposta spiegazione",
            ),
        ],
        reach: 3,
        phrases: &[],
    },
};
