// The message box: Enter sends, Shift+Enter breaks the line, / shows commands,
// arrow up brings back what was sent before.
import { el } from './mrkdwn.js';

export function composer(form, state, send) {
  const box = form.querySelector('textarea');
  const hints = form.querySelector('.hints');
  const button = form.querySelector('button');
  const past = [];
  let back = 0;

  const fit = () => {
    if (!box.value.trim()) box.value = '';
    box.style.height = 'auto';
    // A box that is not shown has no height to measure.
    if (box.scrollHeight) box.style.height = Math.min(box.scrollHeight, 180) + 'px';
    box.style.overflowY = box.scrollHeight > 180 ? 'auto' : 'hidden';
    button.disabled = !box.value.trim();
    const st = state();
    const typed = box.value;
    const show = st && typed.startsWith('/') && !typed.includes(' ') && form.id === 'composer';
    hints.hidden = !show;
    if (show) hints.replaceChildren(...st.commands.filter((c) => c.startsWith(typed)).map((c) => el('div', '', el('b', '', c), ' — ' + st.bot.display + '; type “' + c + ' help” to see what it can do')));
    if (show && !hints.childNodes.length) hints.hidden = true;
  };
  box.oninput = fit;
  box.onkeydown = (ev) => {
    if (ev.key === 'Enter' && !ev.shiftKey && !ev.isComposing) {
      ev.preventDefault();
      form.requestSubmit();
    } else if (ev.key === 'Tab' && !hints.hidden) {
      ev.preventDefault();
      box.value = hints.querySelector('b').textContent + ' ';
      fit();
    } else if (ev.key === 'ArrowUp' && !box.value.includes('\n') && past.length && (box.value === '' || back > 0)) {
      ev.preventDefault();
      back = Math.min(back + 1, past.length);
      box.value = past[past.length - back];
      fit();
    } else if (ev.key === 'ArrowDown' && back > 0) {
      ev.preventDefault();
      back -= 1;
      box.value = back ? past[past.length - back] : '';
      fit();
    }
  };
  form.onsubmit = async (ev) => {
    ev.preventDefault();
    const text = box.value.trim();
    if (!text) return;
    box.value = '';
    back = 0;
    past.push(text);
    fit();
    const out = await send(text);
    if (out && out.error && !box.value) {
      box.value = text;
      fit();
    }
    box.focus();
  };
  fit();
}
