/** Shows the run. With `?fast` no time is spent on looking real. */
import * as windlass from '../index.js';
import * as files from '../files.js';
import * as testkit from '../testkit.js';
import { demoAgent } from './demo.js';

const run = document.querySelector('#run');
const summary = document.querySelector('#summary');
const fast = new URLSearchParams(location.search).has('fast');

async function show() {
  const bundle = await (await fetch('bundle.json')).json();
  const clock = fast ? new testkit.VirtualClock() : new windlass.SystemClock();
  const options = { includePartialMessages: true };
  const { agent, model } = await demoAgent({ windlass, testkit, files, bundle, clock, options });
  add('p', 'prompt', bundle.prompt);
  const view = new View();
  for await (const message of agent.query(bundle.prompt)) view.take(message);
  model.verify();
}

/** What is on the page of the messages so far. */
class View {
  #text;
  #calls = new Map();

  take(message) {
    if (message.type === 'stream_event') this.#stream(message.event);
    if (message.type === 'assistant') this.#assistant(message.message.content);
    if (message.type === 'user') this.#results(message.message.content);
    if (message.type === 'result') this.#result(message);
  }

  /** Text appears while it arrives. */
  #stream(event) {
    if (event.type === 'content_block_start') {
      const kind = event.content_block.type;
      this.#text = kind === 'tool_use' ? undefined : add('p', kind, '');
    }
    const piece = event.delta?.text ?? event.delta?.thinking;
    if (event.type === 'content_block_delta' && piece) this.#text?.append(piece);
  }

  /** Calls appear when they are complete. */
  #assistant(content) {
    for (const { type, id, name, input } of content) {
      if (type === 'tool_use') this.#calls.set(id, addCall(name, input));
    }
  }

  #results(content) {
    for (const { type, tool_use_id: id, content: said, is_error: failed } of content) {
      if (type !== 'tool_result') continue;
      const call = this.#calls.get(id);
      call.classList.add(failed ? 'failed' : 'done');
      const text = typeof said === 'string' ? said : said.map((block) => block.text ?? `[${block.type}]`).join('\n');
      call.append(element('pre', '', text));
    }
  }

  #result({ subtype, num_turns: turns, usage, total_cost_usd: cost, duration_ms: ms }) {
    const tokens = usage.input_tokens + usage.output_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
    const facts = [
      subtype === 'success' ? 'done' : subtype,
      `${turns} turns`,
      `${tokens.toLocaleString('en')} tokens`,
      `$${cost.toFixed(4)}`,
      `${(ms / 1000).toFixed(1)} s`,
    ];
    finish(subtype === 'success' ? 'good' : 'bad', facts.join(' · '));
  }
}

function addCall(name, input) {
  const call = element('details', 'call', '');
  const head = element('summary', '', '');
  const { command, file_path: path, pattern } = input;
  const short = command ?? path ?? pattern ?? JSON.stringify(input);
  head.append(element('span', 'name', name), element('span', 'input', short), element('span', 'outcome', ''));
  call.append(head);
  run.append(call);
  return call;
}

function add(tag, className, text) {
  const made = element(tag, className, text);
  run.append(made);
  return made;
}

function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

function finish(className, text) {
  summary.hidden = false;
  summary.className = className;
  summary.textContent = text;
}

try {
  await show();
} catch (error) {
  finish('bad', `stopped: ${error.message}`);
  throw error;
}
