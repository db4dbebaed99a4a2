//! The table as LaTeX, in the style of the package `booktabs`.

use super::number::Digits;
use super::{Cell, ResultsTable};

impl ResultsTable {
    /// A `tabular` as LaTeX, which needs `\usepackage{booktabs}`: tasks over their metrics, a row a method, a dash where
    /// nothing is known.
    pub fn latex(&self) -> String {
        let columns = self.columns();
        let count: usize = columns.iter().map(|(_, metrics)| metrics.len()).sum();
        let (mut tasks, mut rules, mut metrics) = (String::new(), String::new(), String::new());
        let mut next = 2;
        for (task, of_task) in columns.iter().filter(|(_, metrics)| !metrics.is_empty()) {
            let end = next + of_task.len() - 1;
            tasks += &format!(" & \\multicolumn{{{}}}{{c}}{{{}}}", of_task.len(), escape(&self.tasks[*task]));
            rules += &format!("\\cmidrule(lr){{{next}-{end}}} ");
            of_task.iter().for_each(|&metric| metrics += &format!(" & {}", escape(&self.metrics[metric])));
            next = end + 1;
        }
        let mut text = format!("\\begin{{tabular}}{{l{}}}\n\\toprule\n", "r".repeat(count));
        if count > 0 {
            text += &format!("{tasks} \\\\\n{}\n{metrics} \\\\\n\\midrule\n", rules.trim_end());
        }
        for (i, method) in self.methods.iter().enumerate() {
            text += &escape(method);
            self.row(i)
                .for_each(|cell| text += &format!(" & {}", cell.map_or_else(|| "--".to_owned(), written)));
            text += " \\\\\n";
        }
        text + "\\bottomrule\n\\end{tabular}\n"
    }
}

/// Mean and deviation in mathematics.
pub(crate) fn written(cell: Cell) -> String {
    let Digits { mean, std, exponent } = Digits::of(cell);
    let spread = std.map(|std| format!(" \\pm {std}")).unwrap_or_default();
    match (exponent, spread.is_empty()) {
        (0, _) => format!("${mean}{spread}$"),
        (_, true) => format!("${mean} \\times 10^{{{exponent}}}$"),
        (_, false) => format!("$({mean}{spread}) \\times 10^{{{exponent}}}$"),
    }
}

/// A name as it is, whatever its characters mean in LaTeX.
pub(crate) fn escape(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        match c {
            '\\' => text += "\\textbackslash{}",
            '~' => text += "\\textasciitilde{}",
            '^' => text += "\\textasciicircum{}",
            '<' => text += "\\textless{}",
            '>' => text += "\\textgreater{}",
            '|' => text += "\\textbar{}",
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => text.extend(['\\', c]),
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::tests::awkward;
    use super::*;

    #[test]
    fn latex_groups_metrics_under_tasks() {
        let expected = r#"\begin{tabular}{lrrr}
\toprule
 & \multicolumn{2}{c}{half\textbar{}cheetah} & \multicolumn{1}{c}{ant} \\
\cmidrule(lr){2-3} \cmidrule(lr){4-4}
 & QD, score & coverage (\%) & coverage (\%) \\
\midrule
GAIL\_1 & $(2.640 \pm 0.092) \times 10^{6}$ & $98.1 \pm 1.7$ & $100.0 \pm 0.0$ \\
a"b\textbackslash{}\&\{c\} & $-0.5000$ & -- & -- \\
\bottomrule
\end{tabular}
"#;
        assert_eq!(awkward().latex(), expected);
    }

    #[test]
    fn every_special_character_is_escaped() {
        assert_eq!(
            escape("#$%&_{}~^\\<>|\n"),
            "\\#\\$\\%\\&\\_\\{\\}\\textasciitilde{}\\textasciicircum{}\\textbackslash{}\\textless{}\\textgreater{}\\textbar{} "
        );
        assert_eq!(
            ResultsTable::default().latex(),
            "\\begin{tabular}{l}\n\\toprule\n\\bottomrule\n\\end{tabular}\n"
        );
    }
}
