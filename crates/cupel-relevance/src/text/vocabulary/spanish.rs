use super::{Addressing, Vocabulary};

pub(super) const VOCABULARY: Vocabulary = Vocabulary {
    asking: "resumir resume resumen describir describe descripción explicar explica explicación \
        discutir discusión cuéntame hablar habla hablaron decir dijo dicho mencionar mencionó \
        mencionado pensar piensa opinión opina según conversación lista enumera orden dar dame pedir \
        preguntar responder respuesta actitud respecto manera forma tipo aspecto diferentes distintos \
        varios diversos",
    months: [
        "enero",
        "febrero",
        "marzo",
        "abril",
        "mayo",
        "junio",
        "julio",
        "agosto",
        "septiembre setiembre",
        "octubre",
        "noviembre",
        "diciembre",
    ],
    between_day_and_month: "de",
    addressing: Addressing {
        pairs: &[
            (
                "dijiste recomendaste sugeriste mencionaste explicaste propusiste aconsejaste diste \
                 escribiste describiste indicaste respondiste enumeraste",
                "",
            ),
            (
                "has habías",
                "dicho recomendado sugerido mencionado explicado propuesto aconsejado dado escrito \
                 descrito indicado",
            ),
            ("usted", "dijo recomendó sugirió mencionó explicó propuso aconsejó dio"),
            (
                "tu tus",
                "respuesta respuestas consejo consejos recomendación recomendaciones sugerencia \
                 sugerencias propuesta",
            ),
        ],
        reach: 3,
        phrases: &[],
    },
};
