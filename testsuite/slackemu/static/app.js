// The page: fetches the workspace as one user sees it and draws it anew on
// every event of the server.
import { el } from './mrkdwn.js';
import { blocks } from './blocks.js';
import { modal } from './dialog.js';
import { messageList, threadList } from './messages.js';
import { composer } from './composer.js';
import { withEmoji } from './emoji.js';

const $ = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);
const view = { user: query.get('user') || '', channel: query.get('channel') || '', thread: query.get('thread') || '', seen: {} };
const drafts = {}; // what was entered into a modal, by view id and hash
let st = null;

async function post(name, body) {
  const r = await fetch('control/' + name, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  const out = await r.json().catch(() => ({ error: 'the emulator answered ' + r.status }));
  if (!r.ok) toast(out.error);
  return out;
}

let toastTimer;
function toast(text) {
  $('toast').textContent = text;
  $('toast').hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { $('toast').hidden = true; }, 5000);
}

function names() {
  const users = [...st.users, st.bot];
  const find = (list, id) => list.find((x) => x.id === id);
  return {
    me: st.me, users: st.users, channels: st.channels, bot: st.bot, team: st.users.find((u) => u.id === st.me).team_id,
    person: (id) => find(users, id),
    user: (id) => (find(users, id) || {}).display,
    channel: (id) => (find(st.channels, id) || {}).name,
    group: (id) => (find(st.groups, id) || {}).handle,
    inGroup: (id) => ((find(st.groups, id) || {}).users || []).includes(st.me),
    file: (id) => find(st.files, id),
    fileURL: (ref) => (ref.id ? 'page/files/' + ref.id : ref.url ? 'page/files/' + ref.url.split('/files/')[1].split('/')[0] : null),
  };
}

function channelNow() {
  return st.channels.find((c) => view.channel && (c.id === view.channel || c.name === view.channel)) || st.channels[0];
}

function select(channel) {
  view.channel = channel;
  view.thread = '';
  $('list').dataset.stick = 'yes';
  openHome();
  draw();
}

function draw() {
  const ctx = names();
  const home = view.channel === 'home';
  const channel = home ? null : channelNow();
  if (channel) view.channel = channel.id;
  drawSidebar(ctx, channel);
  $('composer').hidden = home;
  $('composer').style.display = home ? 'none' : '';
  const host = { ctx, open: (ts) => { view.thread = ts; draw(); $('replies').scrollTop = 1e9; }, thread: view.thread };
  if (home) drawHome(ctx);
  else {
    $('title').replaceChildren(el('div', '', el('b', '', withEmoji(label(channel, ctx))), el('small', '', channel.topic || '')), el('small', '', membership(channel)));
    $('composer').querySelector('textarea').placeholder = 'Message ' + (channel.im ? ctx.bot.display : '#' + channel.name) + ' or type / for commands';
    hostFor(host, channel.id);
    messageList($('list'), st.messages.filter((m) => m.channel === channel.id), host);
  }
  $('thread').hidden = !view.thread || home;
  if (view.thread && channel) {
    $('thread-in').replaceChildren(withEmoji(label(channel, ctx)));
    threadList($('replies'), st.messages.filter((m) => m.channel === channel.id), view.thread, host);
  }
  if (!view.thread) $('replies').replaceChildren();
  drawModal(ctx);
}

function hostFor(host, channel) {
  host.actIn = (m) => ({ ctx: host.ctx, values: {}, act: (e, b, value) => post('click', { user: st.me, channel, ts: m.ts, block_id: b.block_id, action_id: e.action_id, value }) });
}

const label = (c, ctx) => (c.im ? ctx.bot.display : (c.private ? '🔒 ' : '# ') + c.name);
function membership(c) {
  if (c.im) return 'app';
  const shared = (c.shared_teams || []).length ? 'shared with another organisation · ' : '';
  return shared + c.members.length + ' people · ' + (c.bot_member ? st.bot.display + ' is here' : st.bot.display + ' is not in this channel');
}

function drawSidebar(ctx, current) {
  document.title = st.team;
  $('team').textContent = st.team;
  $('link').className = 'dot' + (st.connected ? ' on' : '');
  $('link').title = st.connected ? 'The bot is connected' : 'The bot is not connected';
  const pick = $('actas');
  if (pick.options.length !== st.users.length) pick.replaceChildren(...st.users.map((u) => new Option(u.display + (u.team_id !== ctx.bot.team_id ? ' (partner)' : ''), u.id)));
  pick.value = st.me;
  const row = (c) => {
    const b = el('button', current && c.id === current.id ? 'on' : '', el('span', 'sign', c.im ? '●' : c.private ? withEmoji('🔒') : '#'), el('span', 'name', c.im ? ctx.bot.display : c.name));
    b.onclick = () => select(c.id);
    const n = news(c, current);
    const li = el('li', n.any ? 'unread' : '', b);
    if (n.mentions) b.append(el('span', 'badge', String(n.mentions)));
    return li;
  };
  $('channels').replaceChildren(...st.channels.filter((c) => !c.im).map(row));
  $('dms').replaceChildren(...st.channels.filter((c) => c.im).map(row));
  const app = el('button', view.channel === 'home' ? 'on' : '', el('span', 'sign', '⌂'), el('span', 'name', st.bot.display + ' · Home'));
  app.onclick = () => select('home');
  $('apps').replaceChildren(el('li', '', app));
}

// news counts what came after the person last looked.
function news(c, current) {
  const key = st.me + c.id;
  const list = st.messages.filter((m) => m.channel === c.id && !m.deleted);
  const last = list.length ? list[list.length - 1].ts : '';
  if (!(key in view.seen) || (current && c.id === current.id)) view.seen[key] = last;
  const fresh = list.filter((m) => m.ts > view.seen[key] && m.user !== st.me);
  const groups = st.groups.filter((g) => g.users.includes(st.me)).map((g) => g.id);
  return { any: fresh.length > 0, mentions: fresh.filter((m) => c.im || m.text.includes('<@' + st.me) || groups.some((g) => m.text.includes('<!subteam^' + g))).length };
}

function drawHome(ctx) {
  $('title').replaceChildren(el('div', '', el('b', '', st.bot.display), el('small', '', 'Home')));
  const list = $('list');
  const key = 'home' + (st.home ? st.home.id + st.home.hash : '');
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  if (!st.home) { list.replaceChildren(el('div', 'empty', 'The app has not published a Home tab for you yet.')); return; }
  const host = { ctx, values: {}, act: (e, b, value) => post('click', { user: st.me, view_id: st.home.id, block_id: b.block_id, action_id: e.action_id, value }) };
  list.replaceChildren(el('div', 'home', blocks(st.home.blocks, host)));
  list.scrollTop = 0;
}

function drawModal(ctx) {
  const top = st.views[st.views.length - 1];
  const values = top ? (drafts[top.id + top.hash] ||= {}) : {};
  const host = { ctx, values, errors: top && top.errors, act: (e, b, value) => post('click', { user: st.me, view_id: top.id, block_id: b.block_id, action_id: e.action_id, value }) };
  modal(top, (v) => blocks(v.blocks, host), ctx,
    () => post('submit', { view_id: top.id, user: st.me, values }),
    () => post('close', { view_id: top.id, user: st.me }));
}

// openHome tells the app that its Home tab is opened, once per person, also
// when the page was opened on it.
let homeOf = '';
function openHome() {
  if (view.channel !== 'home') homeOf = '';
  else if (homeOf !== st.me) {
    homeOf = st.me;
    post('home', { user: st.me });
  }
}

let fetching = false, again = false;
async function refresh() {
  if (fetching) { again = true; return; }
  fetching = true;
  try {
    const r = await fetch('page/state?user=' + encodeURIComponent(view.user));
    st = await r.json();
    view.user = st.me;
    openHome();
    draw();
  } catch (e) {
    toast('The emulator does not answer.');
  } finally {
    fetching = false;
    if (again) { again = false; refresh(); }
  }
}

$('actas').onchange = (ev) => { view.user = ev.target.value; view.thread = ''; refresh(); };
$('thread-close').onclick = () => { view.thread = ''; draw(); };
composer($('composer'), () => st, (text) => (text.startsWith('/')
  ? post('slash', { user: st.me, channel: view.channel, text })
  : post('say', { user: st.me, channel: view.channel, text })));
composer($('reply'), () => st, (text) => {
  if (text.startsWith('/')) { toast('Slash commands cannot be used in threads. Mention @' + st.bot.name + ' instead.'); return { error: 'thread' }; }
  return post('say', { user: st.me, channel: view.channel, thread: view.thread, text });
});

const events = new EventSource('page/events');
events.onmessage = refresh;
events.onerror = () => { if (st) { st.connected = false; draw(); } };
refresh();
