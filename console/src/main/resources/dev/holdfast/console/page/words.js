// Words, numbers and icons.
import { html, svg } from './lit/lit-html.js';

export const SEC = 1000, MIN = 60 * SEC, HOUR = 60 * MIN;
export const NB = '\u00a0', THIN = '\u202f';

/** The milliseconds of an ISO 8601 text. */
export const ms = iso => Date.parse(iso);

export const int = n => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, THIN);
export const plural = (n, one, many = one + 's') => int(n) + NB + (n === 1 ? one : many);

/** A duration for people, rounded down. */
export function dur(millis) {
  const s = millis / 1000, join = (a, ua, b, ub) => a + NB + ua + (b ? NB + b + NB + ub : '');
  if (s < 1) return Math.max(0, Math.round(millis)) + NB + 'ms';
  if (s < 60) return Math.floor(s) + NB + 's';
  if (s < 600) return join(Math.floor(s / 60), 'min', Math.floor(s % 60), 's');
  if (s < 3600) return Math.floor(s / 60) + NB + 'min';
  if (s < 86400) return join(Math.floor(s / 3600), 'h', Math.floor(s % 3600 / 60), 'min');
  return join(Math.floor(s / 86400), 'd', Math.floor(s % 86400 / 3600), 'h');
}

const p2 = n => String(n).padStart(2, '0');
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
export const clock = t => { const d = new Date(t); return p2(d.getUTCHours()) + ':' + p2(d.getUTCMinutes()) + ':' + p2(d.getUTCSeconds()); };
export const full = t => { const d = new Date(t); return d.getUTCDate() + ' ' + MONTHS[d.getUTCMonth()] + ' ' + d.getUTCFullYear() + ', ' + clock(t) + ' UTC'; };

/** How long ago something was, with the date as a title. */
export const ago = (t, now) => html`<time datetime=${new Date(t).toISOString()} title=${full(t)}>${now - t < SEC ? '< 1' + NB + 's' : dur(now - t)}</time>`;

// Control and direction characters are shown, never obeyed.
export const safe = s => String(s).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
  c => c === '\n' ? '\\n' : c === '\t' ? '\\t' : '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
export const clip = (s, n) => s.length <= n ? s : s.slice(0, Math.ceil((n - 1) * .6)) + '…' + s.slice(s.length - Math.floor((n - 1) * .4));
export const who = label => label ? safe(label) : 'no label';
export const lockUrl = name => '#/lock/' + encodeURIComponent(name);
export const yn = b => b ? 'true' : 'false';

const ICONS = {
  locks: svg`<rect x="3" y="7" width="10" height="7" rx="1.5"/><path d="M5.2 7V5a2.8 2.8 0 0 1 5.6 0v2"/>`,
  tree: svg`<rect x="1.5" y="6" width="4.5" height="4" rx="1"/><rect x="10" y="2" width="4.5" height="4" rx="1"/><rect x="10" y="10" width="4.5" height="4" rx="1"/><path d="M6 8h2m0 0V4h2M8 8v4h2"/>`,
  pulse: svg`<path d="M1.5 8.5h3l2-5 3 9 2-4h3"/>`,
  clock: svg`<circle cx="8" cy="8" r="6"/><path d="M8 4.5V8l2.5 1.5"/>`,
  loop: svg`<path d="M13 6.5A5.2 5.2 0 0 0 3.6 5M3 9.5A5.2 5.2 0 0 0 12.4 11"/><path d="M3.4 2v3.2h3.2M12.6 14v-3.2H9.4"/>`,
  search: svg`<circle cx="7" cy="7" r="4.2"/><path d="m10.2 10.2 3.3 3.3"/>`,
  stuck: svg`<path d="M4 2h8M4 14h8M5 2c0 4 6 8 6 12M11 2c0 4-6 8-6 12"/>`,
  ring: svg`<circle cx="8" cy="8" r="5.5" stroke-dasharray="3 2.4"/>`,
  lost: svg`<circle cx="8" cy="8" r="6"/><path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4"/>`,
  warn: svg`<path d="M8 2 1.8 13.2h12.4z"/><path d="M8 6.4v3.2m0 1.7v.1"/>`,
  check: svg`<path d="m3 8.5 3.2 3.2L13 5"/>`,
  next: svg`<path d="m6 3.5 4.5 4.5L6 12.5"/>`,
  prev: svg`<path d="M10 3.5 5.5 8l4.5 4.5"/>`,
  up: svg`<path d="M8 12.5v-9m-3.5 3.5L8 3.5 11.5 7"/>`,
  down: svg`<path d="M8 3.5v9m3.5-3.5L8 12.5 4.5 9"/>`,
  pause: svg`<path d="M5.5 3.5v9m5-9v9"/>`,
  eye: svg`<path d="M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8z"/><circle cx="8" cy="8" r="1.8"/>`,
  sun: svg`<circle cx="8" cy="8" r="2.8"/><path d="M8 1.5v1.4m0 10.2v1.4M1.5 8h1.4m10.2 0h1.4M3.4 3.4l1 1m7.2 7.2 1 1m0-9.2-1 1m-7.2 7.2-1 1"/>`,
  moon: svg`<path d="M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z"/>`,
  copy: svg`<rect x="5.5" y="5.5" width="8" height="8" rx="1.5"/><path d="M3.5 10.5h-1v-8h8v1"/>`,
  x: svg`<path d="m4 4 8 8m0-8-8 8"/>`,
  key: svg`<circle cx="5" cy="11" r="2.8"/><path d="m7 9 6-6m-2.5 2.5 2 2"/>`,
  help: svg`<circle cx="8" cy="8" r="6"/><path d="M6.3 6.3a1.8 1.8 0 1 1 2.4 1.7c-.5.2-.7.6-.7 1.1m0 2v.1"/>`,
};
export const icon = name => html`<svg class="i" viewBox="0 0 16 16" aria-hidden="true">${ICONS[name]}</svg>`;
export const mark = (size = 20) => html`<svg width=${size} height=${size} viewBox="0 0 20 20" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round"><circle cx="10" cy="5" r="3"/><path d="M10 8v10M10 11c-3 0-5 2-6 6M10 11c3 0 5 2 6 6M10 13.5c-1.4.6-2.2 2-2.5 4M10 13.5c1.4.6 2.2 2 2.5 4"/></svg>`;
export const FINDING_ICONS = { Deadlock: 'loop', Damaged: 'warn', 'Held long': 'stuck', Silent: 'ring', Lost: 'lost', Released: 'lost', Overdue: 'clock', Failing: 'lost' };
