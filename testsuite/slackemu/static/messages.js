// Message list and thread. Rows are kept while nothing about them changed, so
// that an open menu or a pressed button survives a redraw.
import { el, mrkdwn } from './mrkdwn.js';
import { messageBody } from './blocks.js';
import { withEmoji } from './emoji.js';

const palette = ['#3f6ea8', '#8a4b9e', '#2f7d5b', '#b0563c', '#5a5fb0', '#9a6a12', '#2b7f8c', '#a33d63'];

export function avatar(person, id) {
  const name = person ? person.display : '?';
  const initials = name.split(/[\s._-]+/).filter(Boolean).slice(0, 2).map((w) => w[0].toUpperCase()).join('');
  const a = el('span', 'avatar', initials);
  let sum = 0;
  for (const ch of id || name) sum = (sum * 31 + ch.codePointAt(0)) % 9973;
  a.style.background = person && person.is_bot ? '#4a154b' : palette[sum % palette.length];
  a.setAttribute('aria-hidden', 'true');
  return a;
}

export function messageList(box, all, host) {
  const visible = all.filter((m) => !m.deleted);
  const replies = {};
  for (const m of visible) if (m.thread_ts && m.thread_ts !== m.ts) (replies[m.thread_ts] ||= []).push(m);
  const parents = new Set(visible.map((m) => m.ts));
  const rows = visible.filter((m) => !m.thread_ts || m.thread_ts === m.ts || m.broadcast || !parents.has(m.thread_ts));
  fill(box, rows, host, (m) => (replies[m.ts] || []).filter((r) => !r.ephemeral_to), true);
  if (!rows.length) box.replaceChildren(el('div', 'empty', 'Nothing has been said here yet. Type / to see the commands of the app.'));
}

export function threadList(box, all, thread, host) {
  const rows = all.filter((m) => !m.deleted && (m.ts === thread || m.thread_ts === thread));
  fill(box, rows, { ...host, inThread: true }, () => [], false);
}

function fill(box, rows, host, repliesOf, days) {
  const stick = box.dataset.stick === 'yes' || box.scrollHeight - box.scrollTop - box.clientHeight < 60;
  delete box.dataset.stick;
  const kept = {};
  for (const n of box.children) if (n.dataset.ts) kept[n.dataset.ts] = n;
  const out = [];
  let day = '';
  rows.forEach((m, i) => {
    const d = new Date(Number(m.ts) * 1000).toLocaleDateString('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });
    if (days && d !== day) out.push(el('div', 'day', el('span', '', d)));
    day = d;
    const replies = repliesOf(m);
    const sig = JSON.stringify([m.text, m.blocks, m.attachments, m.files, m.edited, m.reactions, replies.length, replies.length && replies[replies.length - 1].ts, host.ctx.me, m.channel, host.inThread]);
    const old = kept[m.ts];
    if (old && old.sig === sig) out.push(old);
    else {
      const n = row(m, replies, host);
      n.dataset.ts = m.ts;
      n.sig = sig;
      out.push(n);
    }
    if (!days && i === 0 && rows.length > 1) out.push(el('div', 'split', rows.length - 1 + (rows.length === 2 ? ' reply' : ' replies')));
  });
  delete box.dataset.key;
  const at = box.scrollTop;
  if (out.length !== box.children.length || out.some((n, i) => n !== box.children[i])) box.replaceChildren(...out);
  box.scrollTop = stick ? box.scrollHeight : at;
  if (stick) for (const img of box.querySelectorAll('img')) img.addEventListener('load', () => { box.scrollTop = box.scrollHeight; }, { once: true });
}

function row(m, replies, host) {
  const person = m.system ? { display: 'Slackbot', is_bot: true } : host.ctx.person(m.user);
  const when = new Date(Number(m.ts) * 1000);
  const time = el('time', '', when.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' }));
  time.title = when.toLocaleString();
  const foreign = person && !m.system && person.team_id !== host.ctx.bot.team_id;
  const head = el('div', '', el('span', 'who', person ? person.display : m.user), m.bot_id || m.system ? el('span', 'app', 'APP') : null, foreign ? el('span', 'team', 'partner organisation') : null, time);
  const right = el('div', '', head);
  if (m.broadcast && m.thread_ts && !host.inThread) right.append(el('div', 'team', 'replied to a thread'));
  right.append(messageBody(m, host.actIn(m)));
  if (m.reactions && m.reactions.length) right.append(el('div', 'reacts', ...m.reactions.map((r) => el('span', '', mrkdwn(':' + r + ':', host.ctx)))));
  if (replies.length) right.append(foot(m, replies, host));
  const out = el('div', 'msg' + (m.ephemeral_to ? ' only' : ''), m.ephemeral_to ? el('div', 'onlyyou', withEmoji('👁 Only visible to you')) : null, avatar(person, m.user), right);
  if (!m.ephemeral_to && !host.inThread) {
    const b = el('button', '', 'Reply in thread');
    b.onclick = () => host.open(m.thread_ts || m.ts);
    out.append(el('div', 'tools', b));
  }
  return out;
}

function foot(m, replies, host) {
  const people = [...new Set(replies.map((r) => r.user))].slice(0, 4);
  const last = new Date(Number(replies[replies.length - 1].ts) * 1000);
  const b = el('button', 'foot', ...people.map((id) => avatar(host.ctx.person(id), id)), replies.length + (replies.length === 1 ? ' reply' : ' replies'),
    el('small', '', 'last at ' + last.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })));
  b.onclick = () => host.open(m.ts);
  return b;
}
