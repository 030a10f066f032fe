// Inputs of modals and choices in messages.
import { el, textOf } from './mrkdwn.js';

// field draws an input block; host.values collects what the person enters,
// host.errors holds complaints by block_id.
export function field(b, host) {
  const label = el('label', '', textOf(b.label, host.ctx), b.optional ? el('small', '', ' (optional)') : null);
  const error = (host.errors || {})[b.block_id];
  const out = el('div', 'field' + (error ? ' bad' : ''), label);
  const key = b.block_id + '/' + b.element.action_id;
  const held = key in host.values ? host.values[key] : initial(b.element);
  const input = widget(b.element, host, held, (v) => {
    host.values[key] = v;
    if (b.dispatch_action) host.act(b.element, b, v);
  });
  input.id = label.htmlFor = 'in-' + b.block_id;
  if (!(key in host.values) && held != null) host.values[key] = held;
  out.append(input);
  if (error) out.append(el('div', 'error', error));
  else if (b.hint) out.append(el('div', 'hint', textOf(b.hint, host.ctx)));
  return out;
}

function initial(e) {
  for (const k of Object.keys(e)) {
    if (k === 'initial_option') return e[k].value;
    if (k === 'initial_options') return e[k].map((o) => o.value);
    if (k.startsWith('initial_')) return typeof e[k] === 'object' && !Array.isArray(e[k]) ? '' : e[k];
  }
  return null;
}

function widget(e, host, held, set) {
  const kinds = { plain_text_input: 'text', email_text_input: 'email', url_text_input: 'url', number_input: 'number', datepicker: 'date', timepicker: 'time', datetimepicker: 'datetime-local' };
  if (e.type === 'plain_text_input' && e.multiline) {
    const t = el('textarea');
    t.value = held || '';
    t.placeholder = e.placeholder ? e.placeholder.text : '';
    t.oninput = () => set(t.value);
    return t;
  }
  if (kinds[e.type]) {
    const i = el('input', 'pick');
    i.type = kinds[e.type];
    if (e.type === 'number_input' && e.is_decimal_allowed) i.step = 'any';
    i.value = held || '';
    i.placeholder = e.placeholder ? e.placeholder.text : '';
    const event = i.type === 'text' || i.type === 'email' || i.type === 'url' || i.type === 'number' ? 'oninput' : 'onchange';
    i[event] = () => set(e.type === 'datetimepicker' ? String(Math.floor(new Date(i.value) / 1000)) : i.value);
    return i;
  }
  return choice(e, host, set, '', held);
}

// choice draws selects, radio buttons and checkboxes and reports what is chosen.
export function choice(e, host, set, title, held) {
  if (held == null) held = initial(e);
  const options = [...(e.options || []), ...(e.option_groups || []).flatMap((g) => g.options)];
  if (e.type === 'radio_buttons' || e.type === 'checkboxes') {
    const many = e.type === 'checkboxes';
    const chosen = new Set([].concat(held || []));
    return el('div', '', ...options.map((o) => {
      const i = el('input');
      i.type = many ? 'checkbox' : 'radio';
      i.name = e.action_id;
      i.checked = chosen.has(o.value);
      i.onchange = () => {
        if (!many) return set(o.value);
        if (i.checked) chosen.add(o.value); else chosen.delete(o.value);
        set([...chosen]);
      };
      return el('label', 'choice', i, el('span', '', textOf(o.text, host.ctx), o.description ? el('small', '', textOf(o.description, host.ctx)) : null));
    }));
  }
  if (/^(date|time|datetime)/.test(e.type)) return widget(e, host, held, set);
  const s = el('select', e.type === 'overflow' ? 'pick more' : 'pick');
  s.dataset.action = e.action_id;
  s.multiple = e.type.startsWith('multi_');
  const list = e.type.includes('users_select') ? host.ctx.users.map((u) => [u.id, u.display])
    : /channels_select|conversations_select/.test(e.type) ? host.ctx.channels.map((c) => [c.id, '#' + (c.name || 'direct message')])
    : options.map((o) => [o.value, o.text.text]);
  if (!s.multiple) s.append(new Option(title || (e.placeholder ? e.placeholder.text : 'Choose…'), ''));
  for (const [value, text] of list) s.append(new Option(text, value, false, [].concat(held || []).includes(value)));
  s.onchange = () => {
    set(s.multiple ? [...s.selectedOptions].map((o) => o.value) : s.value);
    if (e.type === 'overflow') s.value = '';
  };
  return s;
}
