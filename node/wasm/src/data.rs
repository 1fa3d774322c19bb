//! Files of data that come after the program: vocabularies, and word vectors.

use cupel_tokens::Encoding;

/// The file of an encoding.
fn vocabulary(encoding: Encoding) -> String {
    format!("{encoding}.merges")
}

const WORDS: &str = "english.words";

/// Takes a file by its name.
pub(crate) fn supply(name: &str, file: &[u8]) -> Result<String, String> {
    let refused = |rule: String| {
        let error = serde_json::json!({ "code": "invalid-data", "rule": rule, "path": name });
        error.to_string()
    };
    if name == WORDS {
        cupel_words::supply_english(file.to_vec()).map_err(|error| refused(error.to_string()))?;
    } else if let Some(encoding) = Encoding::ALL.into_iter().find(|one| vocabulary(*one) == name) {
        let supplied = cupel_tokens::supply_vocabulary(encoding, file);
        supplied.map_err(|error| refused(error.to_string()))?;
    } else {
        return Err(refused("there is no data of this name".to_owned()));
    }
    Ok(String::new())
}

/// The files that were missed so far, one a line.
pub(crate) fn missed() -> String {
    let missed = Encoding::ALL.into_iter().filter(|&one| cupel_tokens::is_vocabulary_missed(one));
    let words = cupel_words::is_english_missed().then(|| WORDS.to_owned());
    missed.map(vocabulary).chain(words).collect::<Vec<_>>().join("\n")
}
