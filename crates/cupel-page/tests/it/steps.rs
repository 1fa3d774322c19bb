//! The view of a session's step.

use cupel_engine::{Engine, Options};
use cupel_page::{RunPoint, View, ViewOptions};

fn message(role: &str, text: &str) -> String {
    format!(r#"{{"role": "{role}", "content": "{text}"}}"#)
}

/// Steps of a conversation that outgrows its window, the last one seen.
fn run(steps: usize) -> (View, Vec<RunPoint>, cupel_engine::Step) {
    let engine = Engine::builder().tokenizer("estimate").max_tokens(220).build().unwrap();
    let mut session = engine.session();
    let mut messages = vec![message("user", "The deploy key is on the blue card.")];
    let mut run = Vec::new();
    for number in 0.. {
        let text = format!("[{}]", messages.join(","));
        let step = session.next(text.as_str()).unwrap();
        session.accept();
        run.push(RunPoint::of(&step));
        if number + 1 == steps {
            let how = ViewOptions::new();
            let view = View::of_step(&engine, text, &Options::new(), &step, &run, &how).unwrap();
            return (view, run, step);
        }
        let filler = format!("Answer {number}: the soup of the day has leeks, and so on and on.");
        messages.push(message("assistant", &filler));
        messages.push(message("user", &format!("Question {number}: what else is on the menu?")));
    }
    unreachable!("the last step is returned")
}

#[test]
fn a_step_is_shown_as_it_was_sent() {
    let (view, run, step) = run(12);
    let of_step = view.step.as_ref().unwrap();
    let messages = of_step.sent.iter().flat_map(|entry| &view.parts[entry.position()].messages);
    assert_eq!(messages.copied().collect::<Vec<_>>(), step.kept_messages);
    assert!(step.kept_messages.len() < view.messages, "nothing was left out");
    let tokens: i64 = of_step.sent.iter().map(|entry| view.parts[entry.position()].tokens).sum();
    assert_eq!(tokens, of_step.tokens);
    let cached: i64 = of_step.cached.iter().map(|at| view.parts[*at].tokens).sum();
    assert_eq!(
        (cached, of_step.cached_tokens),
        (of_step.cached_tokens, step.session.cached_tokens)
    );
    assert!(cached > 0);
    assert_eq!(of_step.run, run);
    assert_eq!(of_step.number, 12);
}

#[test]
fn a_run_has_a_point_for_each_step_and_the_lines_to_compare_with() {
    let (view, _, _) = run(12);
    let points = &view.step.as_ref().unwrap().run;
    let numbers: Vec<u64> = points.iter().map(|point| point.number).collect();
    assert_eq!(numbers, (1..=12).collect::<Vec<_>>());
    let last = points.last().unwrap();
    assert!(last.everything.tokens() > last.sent.tokens(), "everything is more than a window");
    let by_steps: i64 = points.iter().map(|point| point.step.tokens()).sum();
    assert_eq!(by_steps, last.sent.tokens());
}

#[test]
fn parts_of_a_step_have_scores_and_words_too() {
    let (view, _, _) = run(12);
    assert!(view.parts.iter().filter(|part| part.score.is_some()).count() > 10);
    assert!(view.parts.iter().any(|part| part.words.contains(&"menu".to_owned())));
}
