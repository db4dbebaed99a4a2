//! Demonstrations as a table for people.

use std::io::Write;

use magpie_demos::Demonstrations;

use crate::json;
use crate::words::count;

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
        "steps     {}{} in {} of at most {}; {} entries an observation, {} an action",
        demonstrations.steps(),
        if about.every > 1 { format!(", every {}th,", about.every) } else { String::new() },
        count(columns.episodes.len(), "episode"),
        about.horizon,
        sizes.observation,
        sizes.action
    )?;
    for repair in &about.repairs {
        writeln!(out, "repaired  {repair}")?;
    }
    if let Some(foreign) = &about.foreign {
        let whose = match foreign.simulator.as_str() {
            "" => "in the file".to_owned(),
            simulator => format!("of {simulator}"),
        };
        writeln!(out, "returns   sums of the rewards {whose}, not of magpie's task")?;
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
            if episode.terminated { "ended" } else { "cut off" },
            number(episode.true_return),
            number(episode.demonstrator.as_ref().map(|d| d.objective)),
            or_dash(&place.join(" "))
        )?;
    }
    Ok(())
}

/// The same for programs.
pub fn describe(demonstrations: &Demonstrations) -> json::Demonstrations {
    let columns = demonstrations.columns();
    let about = columns.about.clone();
    let episodes = columns.episodes.iter().zip(demonstrations.places());
    json::Demonstrations {
        task: about.task,
        robot: about.robot,
        measure: about.measure,
        source: about.source,
        steps: demonstrations.steps(),
        every: about.every,
        horizon: about.horizon,
        observation_size: columns.sizes.observation,
        action_size: columns.sizes.action,
        repairs: about.repairs,
        episodes: episodes
            .map(|(episode, place)| json::Episode {
                length: episode.length,
                terminated: episode.terminated,
                true_return: episode.true_return,
                objective: episode.demonstrator.as_ref().map(|demonstrator| demonstrator.objective),
                measures: place.map(|place| place.to_vec()),
            })
            .collect(),
    }
}
