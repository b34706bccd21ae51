/** Added to the page of the demonstration by the test: reports what a visitor sees when the run is over. */
const errors = [];
addEventListener('error', (event) => errors.push(event.message));
addEventListener('unhandledrejection', (event) => errors.push(`${event.reason}`));

const summary = document.querySelector('#summary');
const report = () => {
  const calls = [...document.querySelectorAll('.call')].map((call) => ({
    name: call.querySelector('.name').textContent,
    outcome: call.className,
  }));
  const seen = { errors, calls, summary: summary.textContent, text: document.body.textContent };
  fetch('/report', { method: 'POST', body: JSON.stringify(seen) });
};
if (summary.hidden) new MutationObserver(report).observe(summary, { childList: true });
else report();
