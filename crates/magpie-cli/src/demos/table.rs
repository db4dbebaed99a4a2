//! Demonstrations as a table for people.

use std::io::Write;

use magpie_demos::Demonstrations;

/// Writes where demonstrations come from, and a line for each episode. What is not known is a dash.
pub fn write(out: &mut dyn Write, demonstrations: &Demonstrations) -> std::io::Result<()> {
    let columns = demonstrations.columns();
    let (about, sizes) = (&columns.about, columns.sizes);
    let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    writeln!(out, "task      {}, robot {}", or_dash(&about.task), or_dash(&about.robot))?;
    writeln!(out, "measure   {}", or_dash(&about.measure))?;
    writeln!(out, "source    {}", or_dash(&about.source))?;
    writeln!(
        out,
        "steps     {}{} in {} episodes of at most {}; {} entries an observation, {} an action",
        demonstrations.steps(),
        if about.every > 1 { format!(", every {}th,", about.every) } else { String::new() },
        columns.episodes.len(),
        about.horizon,
        sizes.observation,
        sizes.action
    )?;
    for repair in &about.repairs {
        writeln!(out, "repaired  {repair}")?;
    }
    writeln!(
        out,
        "\n{:>7} {:>7} {:>8} {:>10} {:>10}  measures",
        "episode", "length", "end", "return", "objective"
    )?;
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.1}"));
    for (i, (episode, place)) in columns.episodes.iter().zip(demonstrations.places()).enumerate() {
        let place = place.unwrap_or_default().iter().map(|m| format!("{m:.3}")).collect::<Vec<_>>();
        writeln!(
            out,
            "{i:>7} {:>7} {:>8} {:>10} {:>10}  {}",
            episode.length,
            if episode.terminated { "by self" } else { "cut off" },
            number(episode.true_return),
            number(episode.demonstrator.as_ref().map(|d| d.objective)),
            or_dash(&place.join(" "))
        )?;
    }
    Ok(())
}
