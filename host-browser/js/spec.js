/** What a session is made of, for the core. */

/**
 * The options as the core reads them (`windlass_core::session_request`).
 *
 * @param {object} options
 * @param {object[]} tools definitions
 * @param {object[]} hooks registrations
 * @param {string} cwd
 */
export function specOf(options, tools, hooks, cwd) {
  return {
    model: options.model,
    fallback_model: options.fallbackModel,
    max_tokens: options.maxTokens,
    ...systemPrompt(options.systemPrompt),
    tools,
    core_tools: coreTools(options),
    agents: options.agents,
    agent: options.agent,
    tasks: { agent_tool: 'agent', tool_calls_only: options.forwardSubagentText === false },
    tool_aliases: options.toolAliases,
    plan_reminder: options.planModeInstructions && { instructions: options.planModeInstructions },
    output: output(options.outputFormat),
    hooks,
    hook_messages: options.includeHookEvents,
    thinking: thinking(options),
    thinking_display: options.thinking?.display,
    task_budget: options.taskBudget?.total,
    effort: options.effort,
    betas: options.betas,
    stream: options.stream,
    partial_messages: options.includePartialMessages,
    prompt_suggestions: options.promptSuggestions,
    progress_interval_ms: options.progressIntervalMs,
    limits: {
      max_turns: options.maxTurns,
      // A decimal number, whatever JavaScript would make of a small one (1e-7).
      max_budget: options.maxBudgetUsd?.toFixed(9),
    },
    retry: retry(options.retry),
    response: responseLimits(options.responseLimits),
    permissions: {
      mode: options.permissionMode,
      allow: options.allowedTools,
      ask: options.askTools,
      deny: options.disallowedTools,
      can_ask: Boolean(askerOf(options)),
      free_workspace_reads: options.freeWorkspaceReads,
      allow_bypass: options.allowDangerouslySkipPermissions,
    },
    environment: { ...options.environment, cwd, additional_directories: options.additionalDirectories },
    prices: options.prices,
  };
}

/** A text, several, or the preset, which can leave out what differs from one session to another. */
function systemPrompt(prompt) {
  if (Array.isArray(prompt)) return { system: prompt.join('\n\n') };
  if (prompt?.type === 'custom') return systemPrompt(prompt.prompt);
  if (prompt?.type !== 'preset') return { system: prompt };
  const { excludeDynamicSections = false, ...preset } = prompt;
  return { system: preset, surroundings_apart: excludeDynamicSections };
}

/** The tools that the loop runs itself: those that are named, and what starts and stops agents if there are any. */
function coreTools({ coreTools = [], agents }) {
  const ofAgents = agents && Object.keys(agents).length > 0 ? ['Agent', 'TaskOutput', 'TaskStop'] : [];
  const names = new Set([...coreTools, ...ofAgents].map((name) => (name === 'Agent' ? 'Task' : name)));
  return [...names];
}

function output(format) {
  if (!format) return undefined;
  if (format.type !== 'json_schema') throw new Error(`outputFormat: there is no type ${JSON.stringify(format.type)}, only "json_schema"`);
  return { schema: format.schema };
}

/** Who is asked what nothing else decides, if anybody. */
export function askerOf({ canUseTool, permissionPrompts = 'host' }) {
  return permissionPrompts === 'host' ? canUseTool : undefined;
}

/** `maxThinkingTokens` is the older way to say it. */
function thinking({ thinking: config, maxThinkingTokens: most }) {
  if (!config && most !== undefined) return most === 0 ? 'disabled' : { enabled: { budget_tokens: most } };
  if (!config) return undefined;
  if (config.type === 'enabled') return { enabled: { budget_tokens: config.budgetTokens } };
  return config.type;
}

function retry(policy) {
  if (!policy) return undefined;
  return {
    max_retries: policy.maxRetries ?? 10,
    base_ms: policy.baseMs ?? 500,
    max_ms: policy.maxMs ?? 32_000,
    jitter_percent: policy.jitterPercent ?? 25,
    only_rate_limits: policy.onlyRateLimits ?? false,
    honour_retry_after: policy.honourRetryAfter ?? true,
  };
}

function responseLimits(limits) {
  if (!limits) return undefined;
  return { idle_ms: limits.idleMs, total_ms: limits.totalMs, max_bytes: limits.maxBytes };
}
