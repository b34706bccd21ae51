// The system prompt is the caller's, the engine's own by preset, that with something behind it, or none.
import { ask, succeeded } from "./engine.ts";

const preset = { type: "preset", preset: "claude_code" } as const;
succeeded(await ask("Own.", { systemPrompt: "You are a pirate." }), "Arr.");
succeeded(await ask("Preset.", { systemPrompt: preset }), "Preset.");
succeeded(await ask("Longer.", { systemPrompt: { ...preset, append: "End with a fact." } }), "Fact.");
succeeded(await ask("In parts.", { systemPrompt: ["You are a lighthouse.", "You shine."] }), "Beam.");
succeeded(await ask("None."), "Bare.");
