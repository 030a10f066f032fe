// Block Kit to DOM. A host object carries out actions:
// host.act(element, block, value) and host.ctx for names.
import { el, mrkdwn, markdown, textOf } from './mrkdwn.js';
import { rich, table, chart, task } from './rich.js';
import { confirmThen } from './dialog.js';
import { field, choice } from './fields.js';

export function blocks(list, host) {
  const out = el('div', 'blocks');
  for (const b of list || []) {
    const n = block(b, host);
    if (n) out.append(n);
  }
  return out;
}

function block(b, host) {
  const ctx = host.ctx;
  const button = (e) => element(e, b, host);
  switch (b.type) {
    case 'divider': return el('hr');
    case 'header': return el('div', 'b-header', textOf(b.text, ctx));
    case 'section': {
      const out = el('div', 'b-section', b.text ? textOf(b.text, ctx) : null);
      if (b.fields) out.append(el('div', 'fields', ...b.fields.map((f) => el('div', '', textOf(f, ctx)))));
      if (b.accessory) out.append(el('div', 'accessory', element(b.accessory, b, host)));
      return out;
    }
    case 'context': return el('div', 'b-context', ...b.elements.map((e) => (e.type === 'image' ? picture(e, host, 'pic') : textOf(e, ctx))));
    case 'actions':
    case 'context_actions': {
      const kids = b.elements.map(button).filter(Boolean);
      return kids.length ? el('div', 'b-actions', ...kids) : null;
    }
    case 'image': {
      const f = el('figure', 'b-image', b.title ? el('figcaption', '', textOf(b.title, ctx)) : null);
      f.append(picture(b, host));
      return f;
    }
    case 'rich_text': return rich(b, ctx);
    case 'markdown': return markdown(b.text, ctx);
    case 'table':
    case 'data_table': return table(b, ctx, button);
    case 'data_visualization': return chart(b, ctx);
    case 'input': return field(b, host);
    case 'alert': return el('div', 'alert ' + (b.level || ''), textOf(b.text, ctx));
    case 'task_card': return task(b, ctx);
    case 'plan': return el('div', 'box', el('div', 'boxtitle', b.title), ...(b.tasks || []).map((t) => task(t, ctx)));
    case 'carousel': return el('div', 'cards', ...b.elements.map((c) => block(c, host)));
    case 'card': {
      const out = el('div', 'box', b.hero_image ? picture(b.hero_image, host) : null, b.title ? el('b', '', textOf(b.title, ctx)) : null);
      for (const k of ['subtitle', 'body', 'subtext']) if (b[k]) out.append(el('div', '', textOf(b[k], ctx)));
      if (b.actions) out.append(el('div', 'b-actions', ...b.actions.map(button)));
      return out;
    }
    case 'container': {
      const title = b.rich_text_title ? rich(b.rich_text_title, ctx) : textOf(b.title, ctx);
      const out = el(b.is_collapsible ? 'details' : 'div', 'box', el(b.is_collapsible ? 'summary' : 'div', 'boxtitle', title));
      if (b.is_collapsible && !b.default_collapsed) out.open = true;
      if (b.subtitle) out.append(el('small', '', textOf(b.subtitle, ctx)));
      out.append(blocks(b.child_blocks, host));
      return out;
    }
    case 'layout': {
      const out = el('div', 'box', b.is_label_visible ? el('div', 'boxtitle', b.label) : null);
      for (const r of b.rows) {
        const row = el('div', 'b-actions');
        for (const i of r.items) { const c = el('div', '', block(i.block, host)); c.style.flex = '1'; row.append(c); }
        out.append(row);
      }
      return out;
    }
    default: return el('div', 'missing', `This block (${b.type}) has no picture here.`);
  }
}

// element draws one interactive element or image; null when it is not for this user.
export function element(e, b, host) {
  if (e.visible_to_user_ids && !e.visible_to_user_ids.includes(host.ctx.me)) return null;
  switch (e.type) {
    case 'image': return picture(e, host);
    case 'button':
    case 'icon_button':
    case 'workflow_button': {
      const n = el(e.url ? 'a' : 'button', 'btn ' + (e.style || ''), textOf(e.text, host.ctx));
      n.dataset.action = e.action_id;
      if (e.url) { n.href = e.url; n.target = '_blank'; n.rel = 'noreferrer noopener'; } else n.type = 'button';
      if (e.accessibility_label) n.setAttribute('aria-label', e.accessibility_label);
      n.onclick = (ev) => {
        if (e.confirm) ev.preventDefault();
        confirmThen(e.confirm, host.ctx, () => { if (!e.url) n.disabled = true; host.act(e, b).finally(() => { n.disabled = false; }); });
      };
      return n;
    }
    case 'overflow': return choice(e, host, (v) => confirmThen(e.confirm, host.ctx, () => host.act(e, b, v)), '⋯');
    case 'feedback_buttons': return el('span', '', textOf(e.positive_button.text, host.ctx), ' / ', textOf(e.negative_button.text, host.ctx));
    default: return choice(e, host, (v) => confirmThen(e.confirm, host.ctx, () => host.act(e, b, v)));
  }
}

function picture(e, host, cls) {
  const src = e.slack_file ? host.ctx.fileURL(e.slack_file) : null;
  if (!src) {
    // Pictures on the internet are not fetched: the page uses nothing from outside.
    return el('div', 'missing', 'Picture: ' + (e.alt_text || e.image_url));
  }
  const img = el('img', cls || '');
  img.src = src;
  img.alt = e.alt_text || '';
  img.title = e.alt_text || '';
  img.onclick = () => window.open(src, '_blank', 'noopener');
  return img;
}

// messageBody draws text or blocks, attachments and files of a message.
export function messageBody(m, host) {
  const out = el('div', 'content');
  if (m.blocks && m.blocks.length) out.append(blocks(m.blocks, host));
  else if (m.text) out.append(mrkdwn(m.text, host.ctx));
  if (m.edited && out.lastChild) out.lastChild.append(el('span', 'edited', '(edited)'));
  for (const a of m.attachments || []) {
    const bar = el('i');
    if (/^#?[0-9a-f]{6}$/i.test(a.color || '')) bar.style.background = '#' + a.color.replace('#', '');
    const body = el('div', '');
    if (a.pretext) body.append(mrkdwn(a.pretext, host.ctx));
    if (a.title) body.append(el('b', '', a.title));
    if (a.text) body.append(mrkdwn(a.text, host.ctx));
    if (a.blocks) body.append(blocks(a.blocks, host));
    out.append(el('div', 'attachment', bar, body));
  }
  for (const id of m.files || []) {
    const f = host.ctx.file(id);
    if (f && !f.deleted) out.append(fileCard(f));
  }
  return out;
}

function fileCard(f) {
  const url = 'page/files/' + f.id;
  const size = f.size < 1024 ? f.size + ' B' : f.size < 1048576 ? (f.size / 1024).toFixed(1) + ' kB' : (f.size / 1048576).toFixed(1) + ' MB';
  if (/^image\/(png|jpeg|gif)$/.test(f.mimetype)) {
    const img = el('img');
    img.src = url;
    img.alt = f.alt_txt || f.title;
    img.title = f.alt_txt || f.title;
    img.onclick = () => window.open(url, '_blank', 'noopener');
    return el('div', 'file', el('span', 'name', `${f.title} · ${size}`), img);
  }
  const a = el('a', 'file card', el('span', 'kind', (f.name.split('.').pop() || 'file').slice(0, 4)), el('span', '', el('b', '', f.title), el('small', '', `${f.name} · ${size}`)));
  a.href = url;
  a.download = f.name;
  return a;
}
