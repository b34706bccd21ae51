/** The text of a model, which writes Markdown. Nothing of it becomes HTML: tokens become elements, and markup stays text. */
import { lexer } from 'marked';
import { useMemo } from 'preact/hooks';

export function Markdown({ text }) {
  const blocks = useMemo(() => lexer(text).map(block), [text]);
  return <div class="markdown">{blocks}</div>;
}

function block(token) {
  switch (token.type) {
    case 'space':
      return undefined;
    case 'paragraph':
      return <p>{inline(token)}</p>;
    case 'heading':
      // The page has headings of its own above it.
      return <p class="heading">{inline(token)}</p>;
    case 'code':
      return <pre tabindex={0}>{token.text}</pre>;
    case 'blockquote':
      return <blockquote>{token.tokens.map(block)}</blockquote>;
    case 'list': {
      const List = token.ordered ? 'ol' : 'ul';
      return <List>{token.items.map((item) => <li>{item.tokens.map(block)}</li>)}</List>;
    }
    case 'hr':
      return <hr />;
    case 'table':
      return <Table {...token} />;
    case 'text':
      return inline(token);
    default:
      return token.raw;
  }
}

function Table({ header, rows }) {
  return (
    <div class="scrolls" tabindex={0} role="group" aria-label="Table">
      <table>
        <thead><tr>{header.map((cell) => <th>{inline(cell)}</th>)}</tr></thead>
        <tbody>{rows.map((row) => <tr>{row.map((cell) => <td>{inline(cell)}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}

function inline({ tokens, text }) {
  if (!tokens) return unescaped(text);
  return tokens.map((token) => {
    switch (token.type) {
      case 'strong':
        return <strong>{inline(token)}</strong>;
      case 'em':
        return <em>{inline(token)}</em>;
      case 'del':
        return <del>{inline(token)}</del>;
      case 'codespan':
        return <code>{unescaped(token.text)}</code>;
      case 'br':
        return <br />;
      case 'link':
        return <Link {...token} />;
      case 'text':
      case 'escape':
        return token.tokens ? inline(token) : unescaped(token.text);
      default:
        return token.raw;
    }
  });
}

/** Leads away only where a person would expect it: to the web, in a new tab, that knows nothing of this one. */
function Link({ href, tokens, text }) {
  if (!/^(https?|mailto):/.test(href)) return inline({ tokens, text });
  return <a href={href} title={href} target="_blank" rel="noopener noreferrer">{inline({ tokens, text })}</a>;
}

/** The lexer escapes some texts for HTML, which is not made here. */
function unescaped(text) {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name]);
}
