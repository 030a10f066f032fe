// Rich text, tables and charts.
import { el, link, mention, textOf } from './mrkdwn.js';
import { withEmoji, codes } from './emoji.js';

export function rich(block, ctx) {
  const out = el('div', 'rich');
  for (const e of block.elements || []) out.append(section(e, ctx));
  return out;
}

function section(e, ctx) {
  switch (e.type) {
    case 'rich_text_list': {
      const list = el(e.style === 'ordered' ? 'ol' : 'ul');
      list.style.marginLeft = (e.indent || 0) * 22 + 'px';
      for (const item of e.elements) list.append(el('li', '', inlines(item.elements, ctx)));
      return list;
    }
    case 'rich_text_preformatted': return el('pre', '', inlines(e.elements, ctx));
    case 'rich_text_quote': return el('blockquote', '', inlines(e.elements, ctx));
    default: return el('div', 'text', inlines(e.elements, ctx));
  }
}

function inlines(list, ctx) {
  const out = document.createDocumentFragment();
  for (const e of list || []) out.append(styled(e, ctx));
  return out;
}

function styled(e, ctx) {
  let n = one(e, ctx);
  const s = e.style || {};
  for (const [k, tag] of [['code', 'code'], ['bold', 'b'], ['italic', 'i'], ['strike', 's'], ['underline', 'u']]) if (s[k]) n = el(tag, '', n);
  return n;
}

function one(e, ctx) {
  switch (e.type) {
    case 'link': return link(e.url, e.text);
    case 'user': return mention('@' + (ctx.user(e.user_id) || e.user_id), e.user_id === ctx.me);
    case 'channel': return mention('#' + (ctx.channel(e.channel_id) || 'private'));
    case 'usergroup': return mention('@' + (ctx.group(e.usergroup_id) || e.usergroup_id), ctx.inGroup(e.usergroup_id));
    case 'broadcast': return mention('@' + e.range, true);
    case 'emoji': return withEmoji(codes[e.name] || ':' + e.name + ':');
    case 'date': return document.createTextNode(e.fallback || new Date(e.timestamp * 1000).toLocaleString());
    case 'color': return el('code', '', e.value);
    default: {
      const out = document.createDocumentFragment();
      String(e.text || '').split('\n').forEach((t, i) => { if (i) out.append(el('br')); out.append(withEmoji(t)); });
      return out;
    }
  }
}

export function table(block, ctx, button) {
  const t = el('table');
  if (block.caption) t.append(el('caption', '', block.caption));
  (block.rows || []).forEach((row, i) => {
    const tr = el('tr');
    row.forEach((cell, j) => {
      const set = (block.column_settings || [])[j] || {};
      const numeric = cell.type === 'raw_number';
      const cls = [set.align || (numeric ? 'right' : ''), set.is_wrapped ? 'wrap' : ''].join(' ').trim();
      const body = cell.type === 'rich_text' ? rich(cell, ctx) : cell.type === 'action_cell' ? button(cell.element)
        : withEmoji(cell.text != null && cell.text !== '' ? cell.text : String(cell.value ?? ''));
      tr.append(el(i === 0 ? 'th' : 'td', cls, body));
    });
    t.append(tr);
  });
  return el('div', 'tablewrap', t);
}

export function chart(block, ctx) {
  const c = block.chart || {};
  const box = el('div', 'box', el('div', 'boxtitle', block.title));
  const points = c.segments || (c.series || []).flatMap((s) => s.data.map((d) => ({ label: (c.series.length > 1 ? s.name + ' ' : '') + d.label, value: d.value })));
  const top = Math.max(...points.map((p) => p.value), 1e-9);
  for (const p of points) {
    const bar = el('i');
    bar.style.width = Math.max(1, (100 * p.value) / top) + '%';
    box.append(el('div', 'bar', el('span', '', p.label), bar, el('span', 'right', String(p.value))));
  }
  return box;
}

export function task(t, ctx) {
  const sign = { pending: '⏳', in_progress: '▶', complete: '✅', error: '❌' }[t.status] || '⚪';
  const out = el('div', 'task', withEmoji(sign), el('div', '', t.hide_title ? null : el('b', '', t.title)));
  for (const part of [t.details, t.output]) if (part) out.lastChild.append(rich(part, ctx));
  return out;
}

export { textOf };
