use super::{Addressing, Vocabulary};

pub(super) const VOCABULARY: Vocabulary = Vocabulary {
    asking: "要約 概要 まとめ 説明 描写 議論 話し 教え 述べ 言及 触れ 考え 意見 見解 会話 一覧 列挙 順番 順序 \
        回答 返答 態度 について 関して 方法 種類 様々 さまざま",
    months: [""; 12],
    between_day_and_month: "",
    addressing: Addressing {
        pairs: &[],
        reach: 0,
        phrases: &[
            "あなたが言",
            "あなたが話",
            "あなたが提案",
            "あなたが勧め",
            "あなたの提案",
            "あなたの回答",
            "あなたの答え",
            "あなたの返答",
            "あなたのおすすめ",
            "あなたのアドバイス",
            "君が言",
            "君の提案",
            "勧めてくれ",
            "薦めてくれ",
            "すすめてくれ",
            "教えてくれた",
            "教えてくれまし",
            "提案してくれ",
            "説明してくれた",
            "説明してくれまし",
            "推薦してくれ",
            "挙げてくれ",
        ],
    },
};
