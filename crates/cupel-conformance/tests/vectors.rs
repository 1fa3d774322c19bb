//! Every vector of this suite is a test of its own, against the oracle and, with the feature
//! `library`, against the library.

use std::path::Path;
use std::process::ExitCode;

use cupel_conformance::{Implementation, OracleImplementation, VectorFile, Verdict, load, run_one};
use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    let files = match load(&[folder]) {
        Ok(files) => files,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let mut trials = Vec::new();
    for file in files {
        #[cfg(feature = "library")]
        trials.push(trial("library", file.clone(), || cupel_conformance::LibraryImplementation));
        trials.push(trial("oracle", file, || OracleImplementation));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial<I: Implementation + 'static>(
    judged: &str,
    file: VectorFile,
    implementation: fn() -> I,
) -> Trial {
    Trial::test(format!("{judged}::{}", file.name), move || {
        let outcome = run_one(&file, &mut implementation(), true);
        match outcome.verdict {
            Verdict::Passed => Ok(()),
            // Neither the oracle nor the library leaves anything out.
            Verdict::Failed(_) | Verdict::Skipped(_) => Err(outcome.to_string().into()),
        }
    })
}
