//! Estimates keep the bounds that they state, on texts of many kinds and in many languages.

use std::fs;
use std::path::Path;

use cupel_tokens::{
    Encoding, EstimateCounter, Model, OpenAiCounter, TokenCounter, TokenizerFamily,
};

/// Short texts in languages that the samples do not have.
const LANGUAGES: &[(&str, &str)] = &[
    (
        "bulgarian",
        "Кранът вдига лодката от водата и я оставя на кея. Капитанът пита колко ще струва.",
    ),
    (
        "croatian",
        "Dizalica podiže brod iz vode i spušta ga na obalu. Kapetan pita koliko će to stajati.",
    ),
    (
        "czech",
        "Jeřáb zvedá loď z vody a pokládá ji na nábřeží. Kapitán se ptá, kolik to bude stát.",
    ),
    (
        "danish",
        "Kranen løfter båden op af vandet og sætter den på kajen. Kaptajnen spørger om prisen.",
    ),
    (
        "dutch",
        "De kraan tilt de boot uit het water en zet hem op de kade. De kapitein vraagt wat het kost.",
    ),
    (
        "finnish",
        "Nosturi nostaa veneen vedestä ja laskee sen laiturille. Kapteeni kysyy, paljonko se maksaa.",
    ),
    (
        "hungarian",
        "A daru kiemeli a hajót a vízből, és leteszi a rakpartra. A kapitány megkérdezi, mennyibe kerül.",
    ),
    (
        "indonesian",
        "Derek mengangkat kapal dari air dan menaruhnya di dermaga. Kapten bertanya berapa biayanya.",
    ),
    (
        "italian",
        "La gru solleva la barca dall'acqua e la posa sul molo. Il capitano chiede quanto costerà.",
    ),
    (
        "persian",
        "جرثقیل قایق را از آب بلند می‌کند و روی اسکله می‌گذارد. ناخدا می‌پرسد هزینه‌اش چقدر است.",
    ),
    (
        "portuguese",
        "O guindaste levanta o barco da água e o coloca no cais. O capitão pergunta quanto vai custar.",
    ),
    (
        "romanian",
        "Macaraua ridică barca din apă și o așază pe chei. Căpitanul întreabă cât va costa.",
    ),
    (
        "serbian",
        "Дизалица подиже брод из воде и спушта га на обалу. Капетан пита колико ће то коштати.",
    ),
    (
        "slovak",
        "Žeriav dvíha loď z vody a kladie ju na nábrežie. Kapitán sa pýta, koľko to bude stáť.",
    ),
    (
        "swedish",
        "Kranen lyfter båten ur vattnet och ställer den på kajen. Kaptenen frågar vad det kostar.",
    ),
    ("tamil", "கிரேன் படகை நீரிலிருந்து தூக்கி கரையில் வைக்கிறது. தலைவர் எவ்வளவு செலவாகும் என்று கேட்கிறார்."),
    (
        "turkish",
        "Vinç tekneyi sudan kaldırıp rıhtıma bırakıyor. Kaptan ne kadar tutacağını soruyor.",
    ),
];

/// Name and text of every sample, and of the texts above.
fn texts() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let samples = files.iter().map(|file| {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(file).unwrap())
    });
    let languages = LANGUAGES.iter().map(|&(name, text)| (name.to_owned(), text.to_owned()));
    samples.chain(languages).collect()
}

#[test]
fn the_bound_for_an_unknown_tokenizer_holds_for_both_that_are_known_in_95_of_100_texts() {
    let estimate = EstimateCounter::new();
    for encoding in Encoding::ALL {
        let exact = OpenAiCounter::new(encoding);
        let texts = texts();
        let broken: Vec<&str> = texts
            .iter()
            .filter(|(_, text)| exact.count(text) > estimate.bounded(text).at_most)
            .map(|(name, _)| name.as_str())
            .collect();
        assert!(broken.len() * 100 <= texts.len() * 5, "{encoding}: {broken:?}");
    }
}

#[test]
fn a_bound_is_above_its_estimate_and_not_out_of_sight() {
    for family in TokenizerFamily::ALL {
        let estimate = EstimateCounter::like(family);
        for (name, text) in texts() {
            let count = estimate.bounded(&text);
            assert_eq!(count.tokens, estimate.count(&text), "{family}: {name}");
            assert!(count.at_most > count.tokens, "{family}: {name}: {count:?}");
            assert!(count.at_most <= count.tokens * 3, "{family}: {name}: {count:?}");
        }
    }
}

#[test]
fn what_is_like_an_exact_encoding_counts_like_it() {
    let estimate = EstimateCounter::like(TokenizerFamily::OpenAi);
    let exact = OpenAiCounter::new(Encoding::O200kBase);
    for (name, text) in texts() {
        assert_eq!(estimate.count(&text), exact.count(&text), "{name}");
    }
}

#[test]
fn english_and_code_are_near_for_every_family() {
    for (name, text) in texts() {
        if !["english", "markdown", "rust", "python", "log"].contains(&name.as_str()) {
            continue;
        }
        let exact = OpenAiCounter::new(Encoding::O200kBase).count(&text) as f64;
        for family in TokenizerFamily::ALL {
            let ratio = EstimateCounter::like(family).count(&text) as f64 / exact;
            assert!((0.9..=1.5).contains(&ratio), "{family}: {name}: {ratio:.2} of o200k_base");
        }
    }
}

#[test]
fn empty_text_is_no_tokens_and_any_other_at_least_one() {
    for family in TokenizerFamily::ALL {
        let counter = EstimateCounter::like(family);
        assert_eq!(counter.count(""), 0);
        assert!(counter.bounded("").is_exact());
        for text in ["a", " ", "\n", ".", "7", "的", "\0", "\u{10ffff}"] {
            assert!(counter.count(text) >= 1, "{family}: {text:?}");
        }
    }
}

#[test]
fn scaling_is_in_percent_and_rounds_up() {
    let text = "The crane lifts a boat. ".repeat(100);
    let plain = EstimateCounter::new().count(&text);
    let scaled = EstimateCounter::scaled(150).count(&text);
    assert!((plain * 3 / 2 - 2..=plain * 3 / 2 + 2).contains(&scaled), "{plain} {scaled}");
    assert_eq!(EstimateCounter::scaled(0).count(&text), 0);
    assert!(EstimateCounter::new().is_estimate());
}

#[test]
fn an_exact_counter_is_its_own_bound() {
    let exact = Model::find("gpt-4o").unwrap().counter();
    assert!(exact.bounded("Why did the deploy fail?").is_exact());
    let estimate = Model::find("claude-opus-5").unwrap().counter();
    assert!(!estimate.bounded("Why did the deploy fail?").is_exact());
}
