// Emoji: shortcodes to characters, and drawings for the state signs so that
// they look the same whether or not the system has a colour emoji font.

export const codes = {
  hourglass_flowing_sand: '⏳', hourglass: '⌛', arrow_forward: '▶', double_vertical_bar: '⏸', pause_button: '⏸',
  white_check_mark: '✅', heavy_check_mark: '✔', x: '❌', warning: '⚠', black_right_pointing_double_triangle_with_vertical_bar: '⏭',
  next_track_button: '⏭', octagonal_sign: '🛑', no_entry: '⛔', information_source: 'ℹ', large_green_circle: '🟢', red_circle: '🔴',
  large_yellow_circle: '🟡', large_orange_circle: '🟠', large_blue_circle: '🔵', white_circle: '⚪', black_circle: '⚫',
  rotating_light: '🚨', eyes: '👀', '+1': '👍', thumbsup: '👍', '-1': '👎', thumbsdown: '👎', tada: '🎉', rocket: '🚀', fire: '🔥',
  lock: '🔒', unlock: '🔓', key: '🔑', gear: '⚙', wrench: '🔧', hammer_and_wrench: '🛠', mag: '🔍', bar_chart: '📊',
  chart_with_upwards_trend: '📈', calendar: '📅', clock3: '🕒', bell: '🔔', no_bell: '🔕', package: '📦', memo: '📝',
  page_facing_up: '📄', paperclip: '📎', link: '🔗', speech_balloon: '💬', wave: '👋', robot_face: '🤖', electric_plug: '🔌',
  satellite_antenna: '📡', computer: '💻', desktop_computer: '🖥', snowflake: '❄', ice_cube: '🧊', construction: '🚧',
  arrow_up: '⬆', arrow_down: '⬇', arrow_right: '➡', leftwards_arrow_with_hook: '↩', repeat: '🔁', arrows_counterclockwise: '🔄',
  stopwatch: '⏱', star: '⭐', bulb: '💡', question: '❓', exclamation: '❗', pray: '🙏', broom: '🧹', thermometer: '🌡',
};

const disc = (fill, sign) => `<circle cx="10" cy="10" r="9" fill="${fill}"/>${sign}`;
const square = (fill, sign) => `<rect x="1" y="1" width="18" height="18" rx="4" fill="${fill}"/>${sign}`;
const white = 'fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"';
const tick = `<path d="m5.6 10.4 3 3 5.8-6.4" ${white}/>`;
const glass = (sand) => `<path d="M5 2.5h10M5 17.5h10" stroke="#8a5a2b" stroke-width="2" stroke-linecap="round"/><path d="M6 3.5h8c0 3.5-2.6 5-3.2 6.5.6 1.5 3.2 3 3.2 6.500H6c0-3.5 2.6-5 3.2-6.500C8.6 8.5 6 7 6 3.500z" fill="#dff0fa" stroke="#9cc3dc"/>${sand}`;
const drawings = {
  '✅': square('#2eb67d', tick), '✔': tick.replace('#fff', '#2eb67d'),
  '❌': `<path d="m4.5 4.5 11 11m0-11-11 11" fill="none" stroke="#e01e3c" stroke-width="3.4" stroke-linecap="round"/>`,
  '⚠': `<path d="M10 1.8 19 17.800H1z" fill="#f5b81f" stroke="#d99a06" stroke-linejoin="round"/><path d="M10 7.200v5" stroke="#4a3a05" stroke-width="2" stroke-linecap="round"/><circle cx="10" cy="15" r="1.2" fill="#4a3a05"/>`,
  '⏳': glass('<path d="M7 5.200h6c-.5 1.6-2 2.6-3 3.6-1-1-2.5-2-3-3.600zM7.5 16c.3-1.2 1.5-2 2.5-2s2.2.8 2.5 2z" fill="#e8a33d"/>'),
  '⌛': glass('<path d="M6.8 16c.2-2 2-3 3.2-4 1.2 1 3 2 3.2 4z" fill="#e8a33d"/>'),
  '▶': square('#3f87d9', '<path d="M7 5.500v9l7.5-4.500z" fill="#fff"/>'),
  '⏸': square('#3f87d9', '<path d="M7.5 5.500v9M12.5 5.500v9" stroke="#fff" stroke-width="2.6"/>'),
  '⏭': square('#3f87d9', '<path d="M4 5.500v9L9 10zm5 0v9l5-4.500z" fill="#fff"/><path d="M15.3 5.500v9" stroke="#fff" stroke-width="1.8"/>'),
  '❓': `<path d="M6 7.2C6 2.4 14 2.4 14 7.2c0 3-4 3.200-4 6" ${white.replace('#fff', '#d8263e')}/><circle cx="10" cy="17" r="1.6" fill="#d8263e"/>`,
  '❔': `<path d="M6 7.2C6 2.4 14 2.4 14 7.2c0 3-4 3.200-4 6" ${white.replace('#fff', '#8a93a0')}/><circle cx="10" cy="17" r="1.6" fill="#8a93a0"/>`,
  '❗': '<path d="M10 3v9" stroke="#d8263e" stroke-width="3.2" stroke-linecap="round"/><circle cx="10" cy="16.6" r="1.8" fill="#d8263e"/>',
  '🛑': '<path d="M6 1h8l5 5v8l-5 5H6l-5-5V6z" fill="#d8263e"/><path d="M5.5 10h9" stroke="#fff" stroke-width="2.6"/>',
  '⛔': disc('#d8263e', '<path d="M5 10h10" stroke="#fff" stroke-width="3"/>'),
  'ℹ': square('#3f87d9', '<path d="M10 9v5.5" stroke="#fff" stroke-width="2.6"/><circle cx="10" cy="5.6" r="1.5" fill="#fff"/>'),
  '🟢': disc('#2eb67d', ''), '🔴': disc('#e01e3c', ''), '🟡': disc('#f2c744', ''), '🟠': disc('#ee8b2c', ''),
  '🔵': disc('#3f87d9', ''), '⚪': disc('#e6e6e8', ''), '⚫': disc('#333', ''),
  '🔒': '<rect x="3.5" y="8.5" width="13" height="9.5" rx="2" fill="#e8a33d"/><path d="M6.5 8.500V6a3.5 3.5 0 0 1 7 0v2.5" fill="none" stroke="#8d8d93" stroke-width="2"/>',
  '🚨': '<path d="M4.5 15V10a5.5 5.5 0 0 1 11 0v5z" fill="#e01e3c"/><rect x="2.5" y="15" width="15" height="3" rx="1" fill="#55565c"/>',
  '📎': '<path d="m6 11 6-6a2.6 2.6 0 0 1 3.7 3.700l-7.5 7.500a4 4 0 0 1-5.7-5.700L9.5 4" fill="none" stroke="#6d7a88" stroke-width="1.7" stroke-linecap="round"/>',
  '📄': '<path d="M4 1.500h8l4 4v13H4z" fill="#fff" stroke="#9aa3ad"/><path d="M6.5 9h7M6.5 12h7M6.5 15h5" stroke="#9aa3ad"/>',
  '🔧': '<path d="M12 3a4.5 4.5 0 0 1 5.2-.5l-2.7 2.7 1.3 1.3 2.7-2.700a4.5 4.5 0 0 1-6 5.600L6 16.500A2 2 0 1 1 3.2 13.700L9.7 7.200A4.5 4.5 0 0 1 12 3z" fill="#7d8a97"/>',
  '📈': '<rect x="1.5" y="2" width="17" height="16" rx="2" fill="#fff" stroke="#c9ced4"/><path d="m4 14 4-4 3 2.5 5-7" fill="none" stroke="#e01e3c" stroke-width="1.8"/>',
  '📊': '<rect x="1.5" y="2" width="17" height="16" rx="2" fill="#fff" stroke="#c9ced4"/><path d="M5.5 15v-4" stroke="#2eb67d" stroke-width="2.6"/><path d="M10 15V6" stroke="#3f87d9" stroke-width="2.6"/><path d="M14.5 15V9" stroke="#e8a33d" stroke-width="2.6"/>',
  '🔁': square('#3f87d9', '<path d="M5 9a4 3 0 0 1 4-3h5m-2-2 2 2-2 2M15 11a4 3 0 0 1-4 3H6m2 2-2-2 2-2" fill="none" stroke="#fff" stroke-width="1.6"/>'),
  '🔍': '<circle cx="8.5" cy="8.5" r="5.5" fill="#dff0fa" stroke="#55708a" stroke-width="1.8"/><path d="m12.8 12.8 5 5" stroke="#55708a" stroke-width="2.6" stroke-linecap="round"/>',
  '👤': '<circle cx="10" cy="6.5" r="4" fill="#6d7a88"/><path d="M2.5 18a7.5 6.5 0 0 1 15 0z" fill="#6d7a88"/>',
  '🔌': '<path d="M7 2v4m6-4v4" stroke="#55565c" stroke-width="2"/><path d="M4.5 6h11v3a5.5 5.5 0 0 1-11 0zM10 14v4.5" fill="#55565c" stroke="#55565c" stroke-width="1.6"/>',
  '⚙': '<circle cx="10" cy="10" r="5.6" fill="none" stroke="#7d8a97" stroke-width="3.4"/><path d="M10 1v18M1 10h18M3.6 3.600l12.8 12.800M16.4 3.6 3.6 16.4" stroke="#7d8a97" stroke-width="2.2"/><circle cx="10" cy="10" r="4" fill="#fff"/>',
  '👁': '<path d="M1.5 10c4-7 13-7 17 0-4 7-13 7-17 0z" fill="none" stroke="#76737a" stroke-width="1.6"/><circle cx="10" cy="10" r="2.8" fill="#76737a"/>',
  '👀': '<ellipse cx="6" cy="10" rx="4" ry="6" fill="#fff" stroke="#888"/><ellipse cx="14" cy="10" rx="4" ry="6" fill="#fff" stroke="#888"/><circle cx="7.2" cy="11" r="2" fill="#222"/><circle cx="15.2" cy="11" r="2" fill="#222"/>',
};

const drawn = new RegExp('(' + Object.keys(drawings).join('|') + ')\ufe0f?', 'gu');

// withEmoji turns plain text into nodes: shortcodes and signs become pictures.
export function withEmoji(text) {
  const out = document.createDocumentFragment();
  const full = text.replace(/:([a-z0-9_+-]+):/g, (all, code) => codes[code] || all);
  let at = 0;
  for (const m of full.matchAll(drawn)) {
    out.append(full.slice(at, m.index), picture(m[1]));
    at = m.index + m[0].length;
  }
  out.append(full.slice(at));
  return out;
}

function picture(sign) {
  const img = document.createElement('img');
  img.className = 'emoji';
  img.alt = sign;
  img.src = 'data:image/svg+xml,' + encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20">${drawings[sign]}</svg>`);
  return img;
}
