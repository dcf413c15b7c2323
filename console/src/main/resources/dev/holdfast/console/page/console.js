// The frame of the page: what it knows, how it is kept up to date, and what keys and buttons do.
import { html, nothing, render } from './lit/lit-html.js';
import { SEC, ms, int, dur, clock, safe, who, lockUrl, yn, icon, mark } from './words.js';
import { tasksView } from './tasks.js';
import { PAGE, locksView, lockView, blockingView, sessionsView, keyView, forceDialog, helpDialog } from './views.js';

const $ = selector => document.querySelector(selector);
const NAV = [['#/', 'locks', 'Locks', 'locks'], ['#/blocking', 'blocking', 'Blocking', 'tree'], ['#/sessions', 'sessions', 'Sessions', 'pulse'], ['#/tasks', 'tasks', 'Tasks', 'clock']];

// What the server sent last: the overview and the view of this kind, for the query that is the key.
const S = { overview: null, kind: '', key: '', view: null, at: 0, stale: false, passed: 0 };
// What the reader chose, and the state of the connection.
const UI = { q: '', show: 'all', sort: 'long', desc: true, page: 0, sel: null, paused: 0, order: null, hover: false, tree: 'draw', short: false, openTask: null,
  allFinds: false, theme: stored('holdfastTheme') || 'auto', announced: new Set(), needsKey: false, gone: 0, problem: '', version: null, isOther: false, viewQuery };
let route = { view: 'locks' };

function stored(name) { try { return localStorage.getItem(name); } catch { return null; } }

// ---------- Updates
let stream = null, timer = 0, epoch = 0, receivedAt = 0;

function viewQuery() {
  const p = { view: route.view };
  if (route.view === 'locks') Object.assign(p, { show: UI.show, sort: UI.sort, desc: UI.desc, offset: UI.page * PAGE, limit: PAGE }, UI.q ? { q: UI.q } : {});
  if (route.view === 'tasks') Object.assign(p, { offset: UI.page * PAGE, limit: PAGE }, UI.q ? { q: UI.q } : {});
  if (route.view === 'lock') p.name = route.name;
  if (route.view === 'blocking' && UI.short) p.least = 0;
  return new URLSearchParams(p).toString();
}

function take(state, key, kind) {
  UI.gone = 0; UI.needsKey = false; UI.problem = '';
  UI.version ??= state.overview.version;
  UI.isOther = state.overview.version !== UI.version; // the server was replaced: what it sends may have another form
  if (!UI.isOther) {
    S.overview = state.overview;
    S.kind = kind; S.key = key; S.view = state.view;
    S.at = ms(state.overview.at);
    receivedAt = performance.now();
  }
  draw();
}

/** Reads the state once, then follows it: as a stream, or by polling where the server has none. */
async function connect() {
  const own = ++epoch, key = viewQuery(), kind = route.view;
  if (stream) stream.close();
  stream = null;
  clearTimeout(timer);
  if (document.hidden || UI.paused) return;
  try {
    const answer = await fetch('api/state?' + key, { headers: { Accept: 'application/json' } });
    if (own !== epoch) return;
    if (answer.status === 401 || answer.status === 403) { UI.needsKey = true; S.overview = null; draw(); return; }
    const body = await answer.json();
    if (own !== epoch) return;
    if (!answer.ok) { UI.problem = body.detail || body.title || String(answer.status); if (S.overview) { S.kind = kind; S.key = key; S.view = undefined; } draw(); timer = setTimeout(connect, 5 * SEC); return; }
    take(body, key, kind);
    if (body.overview.events && !UI.polls && !UI.isOther) follow(own, key, kind);
    else timer = setTimeout(connect, UI.isOther ? 5 * SEC : SEC);
  } catch { // not answered, or not JSON
    if (own !== epoch) return;
    UI.gone ||= Date.now();
    draw();
    timer = setTimeout(connect, 5 * SEC);
  }
}

function follow(own, key, kind) {
  stream = new EventSource('api/events?' + key);
  let came = false;
  const watch = () => { clearTimeout(timer); timer = setTimeout(() => { UI.polls = !came; connect(); }, 15 * SEC); }; // a proxy may keep events back; or the computer slept
  watch();
  stream.addEventListener('state', e => { if (own === epoch) { came = true; take(JSON.parse(e.data), key, kind); watch(); } });
  stream.addEventListener('problem', () => { if (own === epoch) { stream.close(); clearTimeout(timer); timer = setTimeout(connect, 5 * SEC); } });
  stream.onerror = () => {
    if (own !== epoch) return;
    stream.close();
    clearTimeout(timer);
    timer = setTimeout(connect, SEC); // finds out whether the server is there and the cookie still valid
  };
}

async function post(path, fields) {
  const headers = { 'Content-Type': 'application/json' };
  const token = /(?:^|; )XSRF-TOKEN=([^;]*)/.exec(document.cookie); // where the application protects itself this way
  if (token) headers['X-XSRF-TOKEN'] = decodeURIComponent(token[1]);
  return fetch(path, { method: 'POST', headers, body: JSON.stringify(fields) });
}

// ---------- Drawing
function parseRoute() {
  const p = location.hash.replace(/^#\/?/, '').split('/');
  if (p[0] === 'lock') {
    try { route = { view: 'lock', name: decodeURIComponent(p.slice(1).join('/')) }; } catch { route = { view: 'locks' }; }
  } else route = { view: NAV.some(n => n[1] === p[0]) ? p[0] : 'locks' };
}

function banner() {
  const store = S.overview && S.overview.store;
  if (UI.gone && S.overview) return html`<div class="banner" role="alert">${icon('warn')}<div><b>The console has stopped answering.</b> What you see is from ${clock(S.at)}. The page tries again every 5 seconds and recovers without a reload.</div></div>`;
  if (UI.isOther) return html`<div class="banner" role="alert">${icon('warn')}<div><b>This page is of another version.</b> <button type="button" class="go lnk" data-do="reload">Reload</button>${S.overview ? html` What you see is from ${clock(S.at)}.` : ''}</div></div>`;
  if (store && store.state === 'away' && !store.answered) return html`<div class="banner" role="alert">${icon('warn')}<div><b>The store can't be read:</b> ${safe(store.problem)}. What it holds is unknown. The next try is within ${dur(store.nextTryMillis)}.</div></div>`;
  if (store && store.state === 'away') return html`<div class="banner" role="alert">${icon('warn')}<div><b>The store has been unreachable</b> since ${clock(ms(store.since))} (${dur(ms(S.overview.now) + performance.now() - receivedAt - ms(store.since))}): ${safe(store.problem)}. You see the state of that moment. Holders keep their locks until their leases end. The next try is within ${dur(store.nextTryMillis)}.</div></div>`;
  if (UI.problem) return html`<div class="banner" role="alert">${icon('warn')}<div><b>The request was refused.</b> ${safe(UI.problem)}</div></div>`;
  if (UI.paused) return html`<div class="banner calm">${icon('pause')}<div><b>Paused</b> at ${clock(UI.paused)}. Press <kbd>p</kbd> or Resume to continue.</div></div>`;
  return '';
}

const nowOf = () => S.stale || UI.paused ? S.at : S.at + (performance.now() - receivedAt);

function draw() {
  parseRoute();
  const o = S.overview, view = UI.needsKey ? 'key' : route.view, at = view === 'lock' ? 'locks' : view;
  S.stale = !!(UI.gone || UI.isOther || o && o.store.state === 'away');
  S.passed = S.stale || UI.paused ? 0 : performance.now() - receivedAt;
  const dead = o ? o.counts.deadlocks : 0, title = view === 'key' ? 'Key needed' : (NAV.find(n => n[1] === at) || NAV[0])[2];
  document.documentElement.classList.toggle('stale', S.stale);
  document.title = (dead ? '● Deadlock · ' : '') + (view === 'lock' ? safe(route.name) : title) + ' · Holdfast';
  const badge = o ? { locks: o.counts.locks, blocking: o.counts.waiting, sessions: o.counts.sessions, tasks: o.counts.tasks } : {};
  const navs = phone => NAV.map(n => html`<li><a href=${n[0]} aria-current=${at === n[1] ? 'page' : nothing}>${icon(n[3])}<span>${n[2]}</span>${n[1] === 'blocking' && dead ? html`<span class="n ${phone ? '' : 'pill bad'}">${phone ? '' : icon('loop')}${int(dead)}<span class="sr"> ${dead === 1 ? 'deadlock' : 'deadlocks'}</span></span>` : phone || !o || badge[n[1]] === undefined ? '' : html`<span class="n">${int(badge[n[1]])}</span>`}</a></li>`);
  const themes = v => html`<button type="button" data-do="theme" data-v=${v} aria-pressed=${yn(UI.theme === v)}>${{ auto: 'Auto', light: 'Light', dark: 'Dark' }[v]}</button>`;
  const live = UI.gone ? 'No connection' : UI.isOther ? 'Another version' : S.stale ? 'Store unreachable' : UI.paused ? 'Paused' : o && o.store.state !== 'connecting' ? 'Live' : 'Connecting';
  const dark = UI.theme === 'dark' || UI.theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches;
  render(html`<div class="brand">${mark()}<span>Holdfast</span></div>
    ${o && !UI.needsKey ? html`<div class="store"><span class="m" title=${safe(o.store.place)}>${safe(o.store.place)}</span><span class="mut">${safe(o.store.kind)} · ${UI.gone || UI.isOther ? 'unknown' : S.stale ? html`<b class="bad">no answer</b>` : o.store.state === 'connecting' ? 'connecting' : (o.store.roundTripMicros / 1000).toFixed(1) + ' ms'}</span></div>` : ''}
    <nav class="nav" aria-label="Views"><ul>${navs(false)}</ul></nav>
    <div class="foot"><div class="seg" role="group" aria-label="Colours">${themes('auto')}${themes('light')}${themes('dark')}</div><span>Holdfast ${o ? safe(o.version) : ''} · <button type="button" class="go lnk" data-do="help">Keys <kbd>?</kbd></button></span></div>`, $('#side'));
  render(html`<a class="phone" href="#/" aria-label="Holdfast, all locks"><span class="brand">${mark()}</span></a><div class="crumb">${view === 'lock' ? html`<a class="nw btn quiet icon" href="#/" aria-label="Back to all locks">${icon('prev')}</a><h1 class="m" title=${safe(route.name)}>${safe(route.name)}</h1>` : html`<h1>${title}</h1>`}</div><span class="sp"></span>
    ${o && o.readOnly ? html`<span class="pill" title="This console can look, not change">${icon('eye')}<span>Read-only</span></span>` : ''}
    <button type="button" class="btn quiet live" data-do="pause" aria-pressed=${yn(UI.paused)} ?disabled=${S.stale || !o} title=${UI.paused ? 'Resume (p)' : 'Pause (p)'}><span class="dot ${S.stale ? 'off' : UI.paused || !o ? 'pause' : ''}"></span><span>${live}</span><span class="desk mut">${S.stale || !o ? '' : clock(nowOf())}</span></button>
    <button type="button" class="btn quiet icon phone" data-do="theme" data-v=${dark ? 'light' : 'dark'} aria-label="Switch to ${dark ? 'light' : 'dark'} colours">${icon(dark ? 'sun' : 'moon')}</button>
    <button type="button" class="btn quiet icon desk" data-do="help" aria-label="Keys">${icon('help')}</button>`, $('#top'));
  render(html`${banner()}${body(view, o)}`, $('#main'));
  render(html`<ul>${navs(true)}</ul>`, $('#tabs'));
  drawDialog();
  if (o && !UI.needsKey) announce(o.findings);
}

function body(view, o) {
  if (view === 'key') return keyView();
  if (!o) return UI.gone ? html`<section class="panel"><div class="empty"><h2>The console doesn't answer</h2><p>The page tries again every 5 seconds.</p></div></section>` : UI.isOther ? '' : html`<p class="mut">Connecting…</p>`;
  const now = nowOf();
  return view === 'lock' ? lockView(S, UI, now, route.name) : view === 'blocking' ? blockingView(S, UI, now) : view === 'sessions' ? sessionsView(S, UI, now) : view === 'tasks' ? tasksView(S, UI, now) : locksView(S, UI, now);
}

/** Only trouble is announced, and each once. */
function announce(findings) {
  for (const f of findings) {
    const key = f.kind + (f.name || f.parts[1] || '');
    if (f.trouble && !UI.announced.has(key)) {
      UI.announced.add(key);
      if (UI.started) $('#live').textContent = f.kind + ': ' + safe(f.text);
    }
  }
  UI.started = true;
}

// ---------- Dialogues
let D = null;
const dialog = () => $('#dialog');

function drawDialog() {
  if (!dialog().open || !D) return;
  render(D.kind === 'help' ? helpDialog() : forceDialog(D, S, nowOf()), dialog());
}

function openDialog(content) {
  D = content;
  dialog().showModal();
  drawDialog();
}

function openForce(token) {
  const lock = S.kind === 'lock' && S.view, holder = lock && lock.holders.find(h => h.token === token);
  if (!holder || S.overview.readOnly || S.stale) return;
  openDialog({ kind: 'force', lock, holder, typed: '', busy: false, result: null });
  const field = $('#confirm');
  field.value = '';
  field.focus();
}

async function force() {
  const { lock, holder } = D, own = D, token = html`<span class="m">${holder.token}</span>`;
  own.busy = true;
  drawDialog();
  try {
    const answer = await post('api/release', { name: lock.name, token: holder.token }), body = await answer.json();
    if (answer.ok && body.released) own.result = { status: 200, title: 'Released', text: html`Token ${token} has ended. ${body.next ? html`<b>${who(body.next.label)}</b> holds <span class="m">${safe(lock.name)}</span> now, under token <span class="m">${body.next.token}</span>.` : 'No claim waits, so the lock is free.'} <b>${who(holder.label)}</b> is notified; its code continues until it checks.` };
    else if (answer.status === 409) own.result = { status: 409, title: 'Nothing was changed', text: html`The hold with token ${token} had already ended.${body.holder ? html` <b>${who(body.holder.label)}</b> holds the lock now, under token <span class="m">${body.holder.token}</span>.` : ''} Look again before you release that one.` };
    else if (answer.status === 503 && body.type === 'store-away') own.result = { status: 503, title: 'Outcome unknown', text: html`${safe(body.detail || '')} The hold may have ended or not. It is safe to try again: this can end only token ${token}.` };
    else own.result = { status: answer.status, title: 'Nothing was changed', text: safe(body.detail || body.title || 'The server refused the request.') };
  } catch {
    own.result = { status: 0, title: 'Outcome unknown', text: html`The console did not answer. The hold may have ended or not. It is safe to try again: this can end only token ${token}.` };
  }
  drawDialog();
  const close = $('#dialog .ft .btn');
  if (close && D === own) close.focus();
}

// ---------- Input
function theme(v) {
  UI.theme = v;
  if (v === 'auto') delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = v;
  try { localStorage.setItem('holdfastTheme', v); } catch { /* private mode */ }
}

let toastTimer = 0;
function toast(text) { $('#toast').textContent = text; clearTimeout(toastTimer); toastTimer = setTimeout(() => { $('#toast').textContent = ''; }, 2500); }
function copy(text) { (navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject()).then(() => toast('Copied'), () => toast('Could not copy; select the text instead')); }

const DO = {
  sort: v => { if (UI.sort === v) UI.desc = !UI.desc; else { UI.sort = v; UI.desc = !['name', 'hold', 'lease'].includes(v); } again(); },
  show: v => { UI.show = v; again(); },
  page: v => { UI.page = Math.max(0, UI.page + Number(v)); UI.sel = null; UI.order = null; scrollTo(0, 0); connect(); },
  clear: () => { UI.q = ''; UI.show = 'all'; again(); },
  finds: () => { UI.allFinds = true; },
  short: () => { UI.short = !UI.short; connect(); },
  pause: () => { UI.paused = UI.paused ? 0 : nowOf(); connect(); },
  tree: v => { UI.tree = v; },
  task: v => { UI.openTask = UI.openTask === v ? null : v; },
  help: () => openDialog({ kind: 'help' }),
  close: () => dialog().close(),
  reload: () => location.reload(),
  copywhy: () => copy($('#why').textContent + ' ' + location.href),
  copytree: () => copy($('#treetext').textContent),
  force: (v, el) => openForce(el.dataset.t),
  theme, copy,
};
/** The first page of another selection. */
function again() { UI.page = 0; UI.sel = null; UI.order = null; connect(); }

document.addEventListener('click', e => {
  const button = e.target.closest('[data-do]');
  if (button) {
    if (!button.disabled) { e.preventDefault(); DO[button.dataset.do](button.dataset.v, button); draw(); }
    return;
  }
  const row = e.target.closest('tr[data-lock], tr[data-task]');
  if (row && !e.target.closest('a') && !String(getSelection())) {
    if (row.dataset.lock !== undefined) location.hash = lockUrl(row.dataset.lock);
    else { DO.task(row.dataset.task); draw(); }
  }
  if (e.target === dialog()) dialog().close();
});
let typing = 0;
document.addEventListener('input', e => {
  if (e.target.id === 'q') { UI.q = e.target.value; clearTimeout(typing); typing = setTimeout(again, 200); }
  if (e.target.id === 'confirm' && D) { D.typed = e.target.value; drawDialog(); }
});
document.addEventListener('submit', e => { e.preventDefault(); if (e.target.dataset.form === 'force' && !$('#do-force').disabled) force(); });
document.addEventListener('mouseover', e => { UI.hover = !!e.target.closest('tbody'); });
document.addEventListener('visibilitychange', connect);

function move(by) {
  const rows = [...document.querySelectorAll('main tr.row')], id = r => r.dataset.lock ?? r.dataset.session ?? r.dataset.task;
  if (!rows.length) return;
  const i = rows.findIndex(r => id(r) === UI.sel), n = rows[Math.max(0, Math.min(rows.length - 1, i + by))];
  UI.sel = id(n);
  draw();
  n.scrollIntoView({ block: 'nearest' });
  const link = n.querySelector('a, button');
  if (link) link.focus({ preventScroll: true });
}

document.addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey || dialog().open) return;
  const key = e.key;
  if (key === 'Escape') {
    if (UI.q || e.target.id === 'q') { UI.q = ''; if (e.target.id === 'q') e.target.blur(); again(); draw(); }
    else if (UI.sel) { UI.sel = null; document.activeElement.blur(); draw(); }
    else if (route.view === 'lock') location.hash = '#/';
    return;
  }
  if (e.target.matches('input')) { if (key === 'Enter' && e.target.id === 'q') move(1); return; }
  if (key === '/') { e.preventDefault(); const type = () => { const q = $('#q'); if (q) { q.focus(); q.select(); } }; if ($('#q')) type(); else { location.hash = '#/'; setTimeout(type, 30); } }
  else if (key === 'j') move(1);
  else if (key === 'k') move(-1);
  else if (key === 'n' && $('.pager [data-v="1"]:not([disabled])')) DO.page(1);
  else if (key === 'b' && UI.page) DO.page(-1);
  else if (key === '?') DO.help();
  else if (NAV[key - 1]) location.hash = NAV[key - 1][0];
  else if (key === 'p' && S.overview) { DO.pause(); draw(); }
  else if (key === 't') { const dark = UI.theme === 'dark' || UI.theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches; theme(dark ? 'light' : 'dark'); draw(); }
  else if (key === 'c' && $('#why')) DO.copywhy();
  else if (key === 'f' && route.view === 'lock') { const b = $('[data-do=force]:not([disabled])'); if (b) { e.preventDefault(); openForce(b.dataset.t); } }
});
addEventListener('hashchange', () => {
  if (KEY.test(location.hash)) { location.reload(); return; } // another link was opened in this tab
  const before = route.view;
  parseRoute();
  if ([before, route.view].includes('tasks')) UI.page = 0; // another list
  UI.sel = null; UI.hover = false; UI.problem = ''; draw(); connect(); scrollTo(0, 0); $('#main').focus({ preventScroll: true });
});
addEventListener('resize', draw);

// ---------- Start
const KEY = /^#key=([\w-]+)$/;
async function start() {
  theme(UI.theme);
  const key = KEY.exec(location.hash);
  if (key) {
    history.replaceState(null, '', location.pathname + location.search + '#/');
    try {
      const answer = await post('login', { key: key[1] });
      if (!answer.ok) UI.needsKey = true; // unless an older cookie is still valid: the first request shows it
    } catch { UI.gone = Date.now(); }
  }
  draw();
  await connect();
  setInterval(() => { if (!UI.paused && !document.hidden) draw(); }, SEC);
}
start();
