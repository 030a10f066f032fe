// Confirm dialogs and modals: both live in the one layer over the page.
import { el, textOf } from './mrkdwn.js';

const layer = () => document.getElementById('layer');

// confirmThen runs go at once, or after the person agreed.
export function confirmThen(c, ctx, go) {
  if (!c) return go();
  const box = layer();
  const previous = [...box.childNodes];
  const wasHidden = box.hidden;
  const end = () => { box.replaceChildren(...previous); box.hidden = wasHidden; delete box.dataset.confirm; };
  const no = el('button', 'btn', c.deny ? textOf(c.deny, ctx) : 'Cancel');
  const yes = el('button', 'btn ' + (c.style || 'primary'), textOf(c.confirm, ctx));
  no.onclick = end;
  yes.onclick = () => { end(); go(); };
  box.dataset.confirm = 'open';
  box.replaceChildren(el('div', 'dialog small', el('header', '', textOf(c.title, ctx)), el('div', 'body', textOf(c.text, ctx)), el('footer', '', no, yes)));
  box.querySelector('.dialog').setAttribute('role', 'alertdialog');
  box.hidden = false;
  yes.focus();
}

// modal shows the topmost view, or hides the layer.
export function modal(view, draw, ctx, submit, close) {
  const box = layer();
  if (box.dataset.confirm) return;
  const key = view ? [view.id, view.hash, JSON.stringify(view.errors || {}), view.notice || ''].join() : '';
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.hidden = !view;
  box.replaceChildren();
  if (!view) return;
  const x = el('button', 'icon', '✕');
  x.type = 'button';
  x.setAttribute('aria-label', 'Close');
  const cancel = el('button', 'btn', view.close ? textOf(view.close, ctx) : view.submit ? 'Cancel' : 'Close');
  cancel.type = 'button';
  x.onclick = cancel.onclick = close;
  const form = el('form', 'dialog', el('header', '', el('span', '', textOf(view.title, ctx)), x));
  form.noValidate = true;
  form.setAttribute('role', 'dialog');
  if (view.notice) form.append(el('div', 'notice', view.notice));
  form.append(el('div', 'body', draw(view)));
  const foot = el('footer', '', cancel);
  let send = null;
  if (view.submit) foot.append(send = el('button', 'btn primary', textOf(view.submit, ctx)));
  form.append(foot);
  form.onsubmit = (ev) => {
    ev.preventDefault();
    send.disabled = true;
    submit().finally(() => { send.disabled = false; });
  };
  form.onkeydown = (ev) => { if (ev.key === 'Escape') close(); };
  box.append(form);
  const first = form.querySelector('.body input, .body textarea, .body select');
  (first || x).focus();
}
