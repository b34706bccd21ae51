//! The model of subagents that name none.

use windlass_core::{
    Spec,
    agent::{AgentModel, AgentProfile},
};

use super::names::resolved_model;

/// Gives every agent of a spec that names no model this one. A call that names one is stronger.
pub fn set_usual_agent_model(spec: &mut Spec, model: &str) {
    let model = AgentModel::Id(resolved_model(spec, model));
    let agents: Vec<AgentProfile> = (spec.tools.agents.iter())
        .filter(|agent| agent.definition.model.is_none())
        .cloned()
        .collect();
    for mut agent in agents {
        agent.definition.model = Some(model.clone());
        spec.tools.agents.add(agent);
    }
}
