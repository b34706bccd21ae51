// Turns and money can be limited: the result says which limit it was, and an error follows.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { askInVain, result } from "./engine.ts";

writeFileSync("note.txt", "Buy milk.\n");
let { messages, error } = await askInVain("Read on and on.", { maxTurns: 2 });
let end = result(messages);
assert(end.subtype === "error_max_turns" && end.is_error && end.num_turns === 3, JSON.stringify(end));
assert(end.errors.length === 1 && error.message.includes(end.errors[0]), error.message);

({ messages, error } = await askInVain("Spend.", { maxBudgetUsd: 0.01 }));
end = result(messages);
assert(end.subtype === "error_max_budget_usd" && end.total_cost_usd > 0.01, JSON.stringify(end));
assert(end.errors.length === 1 && error.message.includes(end.errors[0]), error.message);
