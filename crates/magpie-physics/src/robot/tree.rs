//! Checks that the joints of a robot form a single tree.

use magpie_settings::DataFault as Fault;

use super::{Body, Joint};

/// The root of the tree: the only body that is not the child of a joint.
pub(super) fn root(bodies: &[Body], joints: &[Joint]) -> Result<usize, Fault> {
    let parents = parents(bodies, joints)?;
    let mut roots = (0..bodies.len()).filter(|&b| parents[b].is_none());
    let Some(root) = roots.next() else {
        return Err(loop_through(0, &parents, bodies));
    };
    if let Some(other) = roots.next() {
        return Err(Fault::new(
            place(bodies, other),
            format!("neither this body nor {:?} is the child of a joint", bodies[root].name),
            "a robot is one tree with one root: add a joint that connects them",
        ));
    }
    // Because every body but the root has one parent, a body that is not connected to the root is connected to a loop.
    match (0..bodies.len()).find(|&b| ancestor(b, bodies.len(), &parents) != root) {
        None => Ok(root),
        Some(b) => Err(loop_through(b, &parents, bodies)),
    }
}

fn parents(bodies: &[Body], joints: &[Joint]) -> Result<Vec<Option<usize>>, Fault> {
    let mut by: Vec<Option<&Joint>> = vec![None; bodies.len()];
    for joint in joints {
        let child = &bodies[joint.child].name;
        let field = format!("joint {:?}.child", joint.name);
        if joint.parent == joint.child {
            return Err(Fault::new(
                field,
                format!("{child:?} is also the parent"),
                "a joint connects two different bodies",
            ));
        }
        if let Some(other) = by[joint.child].replace(joint) {
            return Err(Fault::new(
                field,
                format!("{child:?} is already the child of joint {:?}", other.name),
                "a body can be the child of one joint only: remove one of the two, or swap parent and child",
            ));
        }
    }
    Ok(by.iter().map(|joint| joint.map(|j| j.parent)).collect())
}

/// Follows the parents up to the root, or to a body of the loop that the path ends in.
fn ancestor(mut body: usize, bodies: usize, parents: &[Option<usize>]) -> usize {
    for _ in 0..bodies {
        match parents[body] {
            Some(parent) => body = parent,
            None => break,
        }
    }
    body
}

fn loop_through(start: usize, parents: &[Option<usize>], bodies: &[Body]) -> Fault {
    let start = ancestor(start, bodies.len(), parents);
    let round: Vec<usize> =
        std::iter::successors(parents[start], |&b| parents[b].filter(|_| b != start)).collect();
    let names: String = round.iter().map(|&b| format!(" <- {:?}", bodies[b].name)).collect();
    Fault::new(
        place(bodies, start),
        format!("the joints form a loop: {:?}{names}", bodies[start].name),
        "a robot is a tree: remove one of these joints",
    )
}

fn place(bodies: &[Body], body: usize) -> String {
    format!("body {:?}", bodies[body].name)
}
