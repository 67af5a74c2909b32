//! Imports point downwards: ARCHITECTURE.md lists the floors of each crate, and a module may import
//! from lower floors only. A listed module includes its children, unless a child is listed itself.

use crate::steps::{Outcome, files, report};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The path of a crate's `src`, and the names and texts of its files.
type Crates = BTreeMap<String, Vec<(String, String)>>;
type Names = Vec<String>;

pub(crate) fn check() -> Outcome {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let (Some(files), Some(floors)) = (files(), read("ARCHITECTURE.md")) else {
        return Outcome::Impossible("git ls-files, and ARCHITECTURE.md".into());
    };
    let mut crates = Crates::new();
    for path in files.iter().filter(|path| path.ends_with(".rs")) {
        // A file that git lists may have been deleted.
        if let (Some((before, file)), Some(text)) = (path.split_once("/src/"), read(path)) {
            crates.entry(format!("{before}/src")).or_default().push((file.into(), text));
        }
    }
    report(&breaches(&floors, &crates))
}

fn breaches(text: &str, crates: &Crates) -> Vec<String> {
    let blocks = text.split("```floors\n").skip(1).filter_map(|rest| rest.split("\n```").next()?.split_once('\n'));
    let blocks: HashMap<&str, &str> = blocks.collect();
    let mut found = Vec::new();
    for (src, files) in crates.iter().filter(|(_, files)| files.len() > 1) {
        // The floor of each listed module, counted from the top.
        let mut floors: HashMap<&str, usize> = HashMap::new();
        for (line, floor) in blocks.get(&**src).into_iter().flat_map(|block| block.lines()).zip(1..) {
            floors.extend(line.split_whitespace().map(|module| (module, floor)));
        }
        // The listed module that a module belongs to, and its floor.
        let place = |module: &str| {
            let parents = module.match_indices('/').map(|(end, _)| &module[..end]);
            parents.chain([module]).filter_map(|name| floors.get_key_value(name)).next_back()
        };
        let modules: Vec<&str> = files.iter().map(|(file, _)| file.trim_end_matches(".rs")).collect();
        let unlisted = modules.iter().filter(|module| place(module).is_none());
        found.extend(unlisted.map(|module| format!("{src}/{module}.rs: no floor lists {module}")));
        let absent = floors.keys().filter(|module| !modules.contains(module));
        found.extend(absent.map(|module| format!("{src}: the floors list {module}, which is not there")));
        let arrows = arrows(files, &modules);
        for (from, line, to) in &arrows {
            if let (Some((importer, above)), Some((imported, below))) = (place(from), place(to))
                && importer != imported
                && below <= above
            {
                let circle = if leads(&arrows, to, from) { ", which closes a circle" } else { "" };
                let arrow = format!("{from} (floor {above}) imports {to} (floor {below}){circle}");
                found.push(format!("{src}/{from}.rs:{line}: {arrow}"));
            }
        }
    }
    found
}

/// Whether a module imports another, directly or not.
fn leads(arrows: &[(String, usize, String)], from: &str, to: &str) -> bool {
    let mut seen = HashSet::from([from]);
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        let imported = arrows.iter().filter(|(from, ..)| from == module).map(|(.., to)| &**to);
        next.extend(imported.filter(|imported| seen.insert(imported)));
    }
    seen.contains(to)
}

/// Which module imports which, and in which line.
fn arrows(files: &[(String, String)], modules: &[&str]) -> Vec<(String, usize, String)> {
    let root = if modules.contains(&"lib") { "lib" } else { "main" };
    let mut uses = Vec::new();
    // The names that a module imports, and macros as names of the root: the path of each.
    let mut imports: HashMap<(String, String), Names> = HashMap::new();
    for (module, (_, text)) in modules.iter().zip(files) {
        let here: Names = module.split('/').filter(|name| *name != root).map(String::from).collect();
        let tokens = tokens(text);
        let mut open = 0;
        let mut inside_macro = false;
        let mut inline = Vec::new();
        let mut file = None;
        for at in 0..tokens.len() {
            let token = |offset: isize| tokens.get(at.wrapping_add_signed(offset)).map_or("", |token| token.1);
            match token(0) {
                "{" => open += 1_usize,
                "}" => open = open.saturating_sub(1),
                "macro_rules" => {
                    imports.insert((root.into(), token(2).into()), here.clone());
                    inside_macro = true;
                }
                // `#[path = "file.rs"] mod name;`
                "path" if token(1) == "=" => file = Some([&here[..], &[token(3).into()]].concat()),
                "mod" if token(2) == ";" => {
                    imports.extend(file.take().map(|file| ((module.to_string(), token(1).to_owned()), file)));
                }
                _ => {}
            }
            inline.retain(|outer| open >= *outer);
            // The output of a macro belongs to the module that calls it.
            inside_macro &= open > inline.len() || token(0) != "}";
            if token(0) == "{" && token(-2) == "mod" {
                inline.push(open);
            }
            let is_child = || modules.contains(&&*[&here[..], &[token(0).into()]].concat().join("/"));
            // `pub(in crate::a)` imports nothing.
            let begins = token(1) == "::" && !["::", "in"].contains(&token(-1)) && !inside_macro;
            if !begins || !(PREFIXES.contains(&token(0)) || is_child()) {
                continue;
            }
            for (path, name) in tree(&tokens[at..]) {
                let mut whole = if path[0] == "crate" { Names::new() } else { here.clone() };
                let supers = path.iter().filter(|segment| *segment == "super").count();
                whole.truncate(whole.len().saturating_sub(supers.saturating_sub(inline.len())));
                whole.extend(path.into_iter().filter(|segment| !PREFIXES.contains(&&**segment)));
                if token(-1) == "use" && inline.is_empty() {
                    imports.insert((module.to_string(), name), whole.clone());
                }
                uses.push((module.to_string(), tokens[at].0, whole));
            }
        }
    }
    let arrows = uses.into_iter().map(|(from, line, path)| (from, line, resolve(path, root, modules, &imports)));
    let mut arrows: Vec<_> = arrows.filter(|(from, _, to)| from != to).collect();
    arrows.dedup_by(|a, b| (&a.0, &a.2) == (&b.0, &b.2));
    arrows
}

/// The module in which a path ends. A name that a module imports belongs to the module that it is
/// imported from.
fn resolve(mut path: Names, root: &str, modules: &[&str], imports: &HashMap<(String, String), Names>) -> String {
    // Names that are imported in a circle end the loop after as many steps as there are imports.
    for _ in 0..=imports.len() {
        let outside = |length: &usize| !modules.contains(&&*path[..*length].join("/"));
        let length = (1..=path.len()).find(outside).unwrap_or(path.len() + 1) - 1;
        let module = if length == 0 { root.to_owned() } else { path[..length].join("/") };
        match path.get(length).and_then(|name| imports.get(&(module.clone(), name.clone()))) {
            Some(from) if *from != path[..=length] => path = [from, &path[length + 1..]].concat(),
            _ => return module,
        }
    }
    root.to_owned()
}

/// The paths of a tree such as `crate::{a::B, c as d}`, each with the name that it binds.
fn tree(tokens: &[(usize, &str)]) -> Vec<(Names, String)> {
    let mut found = Vec::new();
    let mut outer: Vec<Names> = Vec::new();
    let mut path = Names::new();
    let mut renamed = None;
    let mut before = "::";
    for &(_, token) in tokens.iter().chain([&(0, ";")]) {
        match (before, token) {
            ("::", "{") => outer.push(path.clone()),
            ("as", name) => renamed = Some(name.to_owned()),
            ("::" | "{" | ",", name) if name.starts_with(|c: char| c.is_alphabetic() || "_*".contains(c)) => {
                path.push(name.to_owned());
            }
            (_, "::" | "as") => {}
            _ => {
                if path.len() > outer.last().map_or(0, Vec::len) {
                    let name = path.iter().rfind(|segment| *segment != "self").cloned().unwrap_or_default();
                    found.push((path, renamed.take().unwrap_or(name)));
                }
                path = outer.last().cloned().unwrap_or_default();
                if token == "}" {
                    outer.pop();
                    path = outer.last().cloned().unwrap_or_default();
                }
                if outer.is_empty() {
                    break;
                }
            }
        }
        before = token;
    }
    found
}

/// Words and signs of what is shipped, each with its line: without comments, and without the items
/// for tests.
fn tokens(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut skipped: Option<usize> = None;
    for (line, number) in text.lines().zip(1..) {
        let indentation = line.len() - line.trim_start().len();
        if let Some(outer) = skipped {
            let ends = line.ends_with(';') || line.trim_start().starts_with('}');
            skipped = skipped.filter(|_| !(indentation == outer && ends));
        } else if TESTS.iter().any(|attribute| line.trim_start().starts_with(attribute)) {
            skipped = Some(indentation);
        } else {
            let mut rest = line.split("//").next().unwrap_or_default();
            while let Some(first) = rest.chars().next() {
                let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                let length = if rest.starts_with("::") { 2 } else { word.max(first.len_utf8()) };
                if !first.is_whitespace() {
                    found.push((number, &rest[..length]));
                }
                rest = &rest[length..];
            }
        }
    }
    found
}

const PREFIXES: [&str; 3] = ["crate", "self", "super"];
const TESTS: [&str; 2] = ["#[cfg(test)]", "#[cfg(all(test"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upward_arrow_a_circle_and_an_unlisted_module_are_found() {
        let floors = "```floors\nc/src\nlib\nkeys\nbackend\nfield\n```\n";
        let found = |field: &str, more: &[(&str, &str)]| {
            let files = [
                ("lib.rs", "mod field;\npub use keys::Key;\nuse crate::backend::{kernel, Name as N};"),
                ("keys.rs", "use crate::{N, field::{self, Element}};\nfn f() { crate::backend::kernel::run::<u8>() }"),
                (
                    "backend.rs",
                    "mod kernel;\nmacro_rules! m {\n    () => { crate::keys::f() };\n}\n#[cfg(test)]\nmod tests {\n    use crate::keys;\n}\n",
                ),
                ("backend/kernel.rs", "use super::Name; // crate::keys::Key\npub(in crate::keys) fn f() {}"),
                ("field.rs", field),
            ];
            let files = files.iter().chain(more).map(|(file, text)| (file.to_string(), text.to_string()));
            breaches(floors, &Crates::from([("c/src".to_owned(), files.collect())]))
        };
        assert_eq!(found("", &[]), [""; 0]);
        assert_eq!(
            found("\nuse crate::Key;", &[]),
            ["c/src/field.rs:2: field (floor 4) imports keys (floor 2), which closes a circle"]
        );
        assert_eq!(found("mod m {\n    use super::super::Key;\n    use super::Element;\n}", &[]).len(), 1);
        assert_eq!(found("", &[("new.rs", "")]), ["c/src/new.rs: no floor lists new"]);
    }
}
