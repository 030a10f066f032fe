// mrkdwn to DOM nodes. Nothing here ever touches innerHTML: all text of
// messages is foreign.
import { withEmoji } from './emoji.js';

export function el(tag, cls, ...kids) {
  const n = document.createElement(tag);
  if (cls) n.className = cls;
  n.append(...kids.filter((k) => k != null));
  return n;
}

const unescape = (t) => t.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');

// mrkdwn renders a text; ctx knows names (ctx.user(id), ctx.channel(id), ctx.group(id), ctx.me).
export function mrkdwn(text, ctx) {
  const out = el('div', 'text');
  const parts = text.split(/```\n?/);
  parts.forEach((part, i) => {
    if (i % 2 === 1 && i < parts.length - 1) {
      out.append(el('pre', '', plainOf(part.replace(/\n$/, ''), ctx)));
      return;
    }
    const body = i % 2 === 1 ? '```' + part : part;
    lines(i > 0 ? body.replace(/^\n/, '') : body, out, ctx);
  });
  return out;
}

function lines(text, out, ctx) {
  let quote = null;
  text.split('\n').forEach((line, i, all) => {
    const q = line.match(/^(?:&gt;|>) ?(.*)$/);
    if (q) {
      if (!quote) out.append(quote = el('blockquote'));
      else quote.append(el('br'));
      quote.append(inline(q[1], ctx));
      return;
    }
    const after = quote;
    quote = null;
    if (i > 0 && !after) out.append(el('br'));
    if (line || i < all.length - 1) out.append(inline(line, ctx));
  });
}

const token = /`([^`\n]+)`|<([^<>]+)>|(?<![\p{L}\p{N}*])\*(?! )([^*\n]+?)(?<! )\*(?![\p{L}\p{N}*])|(?<![\p{L}\p{N}_])_(?! )([^_\n]+?)(?<! )_(?![\p{L}\p{N}_])|(?<![\p{L}\p{N}~])~(?! )([^~\n]+?)(?<! )~(?![\p{L}\p{N}~])/gu;

function inline(text, ctx) {
  const out = document.createDocumentFragment();
  let at = 0;
  for (const m of text.matchAll(token)) {
    out.append(withEmoji(unescape(text.slice(at, m.index))));
    at = m.index + m[0].length;
    if (m[1] != null) out.append(el('code', '', plainOf(m[1], ctx)));
    else if (m[2] != null) out.append(angle(m[2], ctx));
    else if (m[3] != null) out.append(el('b', '', inline(m[3], ctx)));
    else if (m[4] != null) out.append(el('i', '', inline(m[4], ctx)));
    else out.append(el('s', '', inline(m[5], ctx)));
  }
  out.append(withEmoji(unescape(text.slice(at))));
  return out;
}

// plainOf is the text of code: references resolve, styles do not.
const plainOf = (text, ctx) => unescape(text.replace(/<([^<>]+)>/g, (_, body) => angle(body, ctx).textContent));

function angle(body, ctx) {
  const bar = body.indexOf('|');
  const target = bar < 0 ? body : body.slice(0, bar);
  const label = bar < 0 ? '' : unescape(body.slice(bar + 1));
  if (target.startsWith('@')) return mention('@' + (ctx.user(target.slice(1)) || label || target.slice(1)), target.slice(1) === ctx.me);
  if (target.startsWith('#')) return mention('#' + (ctx.channel(target.slice(1)) || label || 'private'));
  if (target.startsWith('!subteam^')) return mention('@' + (ctx.group(target.slice(9)) || label), ctx.inGroup(target.slice(9)));
  if (target.startsWith('!date^')) return date(target.split('^'), label);
  if (target.startsWith('!')) return mention('@' + target.slice(1), true);
  return link(unescape(target), label);
}

export const mention = (text, me) => el('span', 'mention' + (me ? ' me' : ''), text);

export function link(href, label) {
  if (!/^(https?:|mailto:)/i.test(href)) return document.createTextNode(label || '<' + href + '>');
  const a = el('a', '', withEmoji(label || href.replace(/^mailto:/, '')));
  a.href = href;
  a.target = '_blank';
  a.rel = 'noreferrer noopener';
  return a;
}

function date([, unix, format, href], fallback) {
  const d = new Date(Number(unix) * 1000);
  if (!format || isNaN(d)) return document.createTextNode(fallback);
  const f = (o) => d.toLocaleString('en-GB', o);
  const day = (o) => {
    const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(d).setHours(0, 0, 0, 0)) / 864e5);
    return { 0: 'today', 1: 'yesterday', '-1': 'tomorrow' }[days] || f(o);
  };
  const short = { day: 'numeric', month: 'short', year: 'numeric' };
  const long = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' };
  const text = format
    .replace('{date_num}', d.toISOString().slice(0, 10)).replace('{date_short_pretty}', day(short)).replace('{date_long_pretty}', day(long))
    .replace('{date_pretty}', day({ day: 'numeric', month: 'long', year: 'numeric' })).replace('{date_short}', f(short)).replace('{date_long}', f(long))
    .replace('{date}', f({ day: 'numeric', month: 'long', year: 'numeric' })).replace('{time_secs}', f({ hour: '2-digit', minute: '2-digit', second: '2-digit' }))
    .replace('{time}', f({ hour: '2-digit', minute: '2-digit' })).replace('{ago}', ago(d));
  const n = href ? link(href, text) : el('span', '', text);
  n.title = d.toLocaleString();
  return n;
}

function ago(d) {
  const s = Math.round((Date.now() - d) / 1000);
  if (s < 60) return 'just now';
  return s < 3600 ? Math.floor(s / 60) + ' minutes ago' : s < 86400 ? Math.floor(s / 3600) + ' hours ago' : Math.floor(s / 86400) + ' days ago';
}

// text renders a text object of either kind.
export function textOf(t, ctx) {
  if (!t) return document.createTextNode('');
  if (typeof t === 'string') return withEmoji(t);
  return t.type === 'mrkdwn' ? mrkdwn(t.text, ctx) : el('span', 'plain', withEmoji(t.text));
}

// markdown renders the common-markdown of a markdown block by way of mrkdwn.
export function markdown(text, ctx) {
  const safe = text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/^(\s*)>/gm, '$1\u0001').replace(/>/g, '&gt;').replace(/\u0001/g, '>');
  return mrkdwn(safe
    .replace(/^#{1,6} +(.*)$/gm, '*$1*').replace(/\*\*([^*\n]+)\*\*/g, '*$1*').replace(/^[-*] /gm, '• ')
    .replace(/~~([^~\n]+)~~/g, '~$1~').replace(/\[([^\]\n]+)\]\((https?:[^)\s]+)\)/g, '<$2|$1>'), ctx);
}
