//! The page: scripts, styles and markup, put together without a bundler.
//!
//! Each script is a module of its own with `import` and `export` lines. Together they become one script, in which a module is
//! a function that returns what it exports: so an exported page, which may load nothing, runs the same code.

use std::sync::LazyLock;

/// Modules in the order in which they need each other.
const MODULES: [(&str, &str); 15] = [
    ("dom", include_str!("../assets/dom.js")),
    ("colour", include_str!("../assets/colour.js")),
    ("api", include_str!("../assets/api.js")),
    ("gait", include_str!("../assets/gait.js")),
    ("shaders", include_str!("../assets/shaders.js")),
    ("gl", include_str!("../assets/gl.js")),
    ("camera", include_str!("../assets/camera.js")),
    ("scene", include_str!("../assets/scene.js")),
    ("strip", include_str!("../assets/strip.js")),
    ("player", include_str!("../assets/player.js")),
    ("fields", include_str!("../assets/fields.js")),
    ("map", include_str!("../assets/map.js")),
    ("breakit", include_str!("../assets/breakit.js")),
    ("curves", include_str!("../assets/curves.js")),
    ("main", include_str!("../assets/main.js")),
];

/// The styles.
pub const STYLE: &str = include_str!("../assets/style.css");

const PAGE: &str = include_str!("../assets/page.html");

/// The whole script.
pub static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    let modules: String = MODULES.iter().map(|(name, text)| module(name, text)).collect();
    format!("\"use strict\";\n(() => {{\nconst modules = {{}};\n{modules}}})();\n")
});

/// The markup, with `head` in its head and `tail` at the end of its body.
pub fn html(head: &str, tail: &str) -> String {
    PAGE.replace("<!--head-->", head).replace("<!--tail-->", tail)
}

fn module(name: &str, text: &str) -> String {
    let mut exported = Vec::new();
    let mut body = String::new();
    for line in text.lines() {
        if let Some(import) = line.strip_prefix("import ") {
            body.push_str(&imported(import));
        } else if let Some(declared) = line.strip_prefix("export ") {
            let mut words = declared.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
            let name = words.find(|word| !["const", "function", "async", "class", ""].contains(word));
            exported.extend(name);
            body.push_str(declared);
        } else {
            body.push_str(line);
        }
        body.push('\n');
    }
    format!("modules.{name} = (() => {{\n{body}return {{ {} }};\n}})();\n", exported.join(", "))
}

/// `{ a, b } from "./name.js";` or `* as name from "./name.js";` as a declaration.
fn imported(import: &str) -> String {
    let (what, from) = import.split_once(" from ").unwrap_or_default();
    let name = from.trim_matches(|c| "\"./;".contains(c)).trim_end_matches("js").trim_end_matches('.');
    format!("const {} = modules.{name};", what.trim_start_matches("* as "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_become_functions() {
        let text = "import { a, b } from \"./dom.js\";\nimport * as api from \"./api.js\";\nexport const c = a;\nexport async function d() {}\nexport class E {}\n";
        let found = module("x", text);
        assert!(
            found.contains("const { a, b } = modules.dom;\nconst api = modules.api;\nconst c = a;"),
            "{found}"
        );
        assert!(found.contains("return { c, d, E };"), "{found}");
    }

    #[test]
    fn every_import_is_exported_by_an_earlier_module() {
        for (i, (name, text)) in MODULES.iter().enumerate() {
            for line in text.lines().filter(|line| line.starts_with("import ")) {
                let declared = imported(&line["import ".len()..]);
                let of = declared.split("modules.").nth(1).unwrap().trim_end_matches(';');
                let earlier = MODULES[..i].iter().find(|(other, _)| *other == of);
                let from = module(of, earlier.unwrap_or_else(|| panic!("{name}: {line}")).1);
                let exports = from.rsplit("return {").next().unwrap();
                let names = declared.trim_start_matches("const { ").split(" }").next().unwrap();
                for wanted in names.split(", ").filter(|_| line.contains('{')) {
                    assert!(exports.contains(&format!(" {wanted}")), "{name}: {wanted} of {of}");
                }
            }
        }
    }

    #[test]
    fn the_page_asks_for_nothing_from_elsewhere_and_makes_no_markup_of_data() {
        for text in MODULES.iter().map(|(_, text)| *text).chain([STYLE, PAGE]) {
            for forbidden in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "//cdn",
                "https://",
            ] {
                assert!(!text.contains(forbidden), "{forbidden}");
            }
        }
    }
}
