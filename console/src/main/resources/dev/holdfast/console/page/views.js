// The views. Each returns a template for <main> from the state (S) that the server sent and what the reader chose (UI).
import { html, nothing } from './lit/lit-html.js';
import { repeat } from './lit/directives/repeat.js';
import { SEC, MIN, NB, FINDING_ICONS, ms, int, plural, dur, clock, ago, safe, who, lockUrl, yn, icon, mark, clip } from './words.js';
import { ring, dots, heat, spark, bar, keepAlive, timeline, tree, cycle, treeText, wide } from './drawings.js';

export const PAGE = 100;

const standsBy = (n, lock) => html`<span class="mut">${int(n)} ${lock.kind === 'latch' ? 'wait for zero' : 'stand by'}</span>`;
export const code = s => html`<span class="m">${safe(s)}</span>`;
const copyButton = (what, label) => html`<button type="button" class="btn" data-do="copy" data-v=${what}>${icon('copy')}${label}</button>`;

export const filterField = (UI, hint, label) => html`<div class="find-in">${icon('search')}<input class="field" id="q" type="search" placeholder=${hint} aria-label=${label} autocomplete="off" spellcheck="false" maxlength="512" .value=${UI.q}><kbd aria-hidden="true">/</kbd></div>`;

/** Links to the pages before and after, if the view is longer than one. */
export const pager = (v, rows, UI) => v.total > PAGE ? html`<nav class="pager" aria-label="Pages"><span>${int(v.offset + 1)}–${int(v.offset + rows)} of ${int(v.total)}</span><span class="sp"></span><button type="button" class="btn" data-do="page" data-v="-1" ?disabled=${!UI.page}>${icon('prev')}Previous</button><button type="button" class="btn" data-do="page" data-v="1" ?disabled=${v.offset + PAGE >= v.total}>Next${icon('next')}</button></nav>` : '';

// ---------- Locks
export function locksView(S, UI, now) {
  const o = S.overview, c = o.counts, fs = o.findings, most = wide() ? 6 : 4;
  if (!c.locks && !fs.length && o.complete && !UI.q && UI.show === 'all') return empty(S);
  const card = (label, value, sub, picture, bad) => html`<div class="card ${bad ? 'bad' : ''}"><dt>${bad ? icon('warn') : ''}${label}</dt><dd><span class="v">${value}</span><div class="sub">${sub}</div></dd>${picture}</div>`;
  const away = S.stale;
  return html`
  <section class="panel find" aria-labelledby="h-find"><header><h2 id="h-find">Needs attention</h2>${fs.length ? html`<span class="pill">${fs.length}</span>` : ''}<span class="sp"></span>${away ? html`<span class="mut">as of ${clock(now)}</span>` : o.complete ? '' : html`<span class="mut">figures so far</span>`}</header>
    ${fs.length ? html`<ol>${repeat(fs.slice(0, UI.allFinds ? 99 : most), f => f.kind + f.text, f => html`<li class=${f.trouble ? 'hot' : ''}><a href=${findingUrl(f)}>${icon(FINDING_ICONS[f.kind] || 'warn')}<strong>${f.kind}</strong><span class="say">${f.parts.map((p, i) => i % 2 ? code(p) : safe(p))}</span><span class="num mut">${ago(ms(f.at), now)}</span>${icon('next')}</a></li>`)}${fs.length > most && !UI.allFinds ? html`<li><button type="button" class="more" data-do="finds">Show all ${fs.length}</button></li>` : ''}</ol>`
      : !o.store.answered ? html`<p class="none">Waiting for the first answer of the store.</p>`
      : !o.complete ? html`<p class="none">${icon('check')}Nothing needs attention so far. Not all names were read yet.</p>`
      : html`<p class="none">${icon('check')}Nothing needs attention. No deadlock, no hold longer than usual with others waiting, every session renewed.</p>`}</section>
  <dl class="cards fade" aria-label="Totals${o.complete ? '' : ' so far'}">
    ${card('Held', int(c.holders), html`by ${plural(c.holdingSessions, 'process', 'processes')}`, spark(o.series.held))}
    ${card('Waiting', int(c.waiting), html`for ${plural(c.waited, 'lock')}`, spark(o.series.waiting))}
    ${card('Oldest wait', o.oldestWait ? dur(now - ms(o.oldestWait.since)) : '–', o.oldestWait ? html`<a class="go m" href=${lockUrl(o.oldestWait.name)}>${safe(o.oldestWait.name)}</a>` : 'none', '')}
    ${card('Lost, last hour', int(c.lostLastHour), c.lastLoss ? html`last ${ago(ms(c.lastLoss), now)} ago` : 'none seen', '', c.lostLastHour > 0)}
    ${card('Silent sessions', int(c.silentSessions), c.silentSessions ? 'no keep-alive in time' : html`of ${plural(c.sessions, 'session')}`, '', c.silentSessions > 0)}
    ${card('Store answers in', away || !o.store.answered ? '–' : html`${(o.store.roundTripMicros / 1000).toFixed(1)} <small>ms</small>`, away ? 'no answer' : 'at most 2 reads a second', spark(o.series.roundTripMicros), away)}
  </dl>
  ${lockTable(S, UI, now)}`;
}

function findingUrl(f) {
  if (f.name) return lockUrl(f.name);
  return f.kind === 'Overdue' || f.kind === 'Failing' ? '#/tasks' : f.kind === 'Silent' ? '#/sessions' : f.kind === 'Deadlock' ? '#/blocking' : '#/';
}

const COLUMNS = [['name', 'Lock'], ['hold', 'Held by'], ['for', 'Held for', 1], ['lease', 'Lease'], ['wait', 'Waiting'], ['long', 'Longest wait', 1], ['heat', 'Waited per min', 1]];

/** Rows keep their places while somebody points at them or moves among them. */
export function inPlace(rows, UI, key) {
  if (UI.order && UI.order.key === key && (UI.hover || UI.sel)) {
    const place = new Map(UI.order.names.map((n, i) => [n, i]));
    return [...rows].sort((a, b) => (place.get(a.name) ?? 1e9) - (place.get(b.name) ?? 1e9));
  }
  UI.order = { key, names: rows.map(l => l.name) };
  return rows;
}

function lockTable(S, UI, now) {
  const c = S.overview.counts, v = S.view, isReady = S.kind === 'locks' && v;
  const rows = isReady ? inPlace(v.locks, UI, S.key) : [], total = isReady ? v.total : 0;
  const seg = (value, label, n) => html`<button type="button" data-do="show" data-v=${value} aria-pressed=${yn(UI.show === value)}>${label} <span class="mut">${int(n)}</span></button>`;
  const sorted = COLUMNS.find(x => x[0] === UI.sort);
  return html`<section class="panel" aria-labelledby="h-locks"><h2 class="sr" id="h-locks">Locks</h2>
  <div class="tools">${filterField(UI, 'Name, process or message', 'Filter locks by name, process or message')}
    <div class="seg grow" role="group" aria-label="Show">${seg('all', 'All', c.locks)}${seg('waited', 'Waited for', c.waited)}${seg('held', 'Held', c.held)}</div>
    <span class="sp"></span><span class="mut nw desk">${UI.q ? html`${int(total)} of ${int(c.locks)}` : ''} <a class="go" href=${'api/locks?' + UI.viewQuery()} target="_blank" rel="noopener">JSON</a></span></div>
  <div class="scroll"><table class="cardy locks" role="table" aria-label="Locks, ${sorted[1].toLowerCase()} ${UI.desc ? 'descending' : 'ascending'}" aria-rowcount=${total}>
  <thead role="rowgroup"><tr role="row">${COLUMNS.map(x => html`<th role="columnheader" scope="col" class="c-${x[0]} d-${x[0]} ${x[2] ? 'num' : ''}" aria-sort=${UI.sort === x[0] ? (UI.desc ? 'descending' : 'ascending') : nothing}><button type="button" data-do="sort" data-v=${x[0]}>${x[1]}${UI.sort === x[0] ? icon(UI.desc ? 'down' : 'up') : ''}</button></th>`)}</tr></thead>
  <tbody role="rowgroup" class="fade">${repeat(rows, l => l.name, l => lockRow(l, S, UI, now))}</tbody></table></div>
  ${rows.length || !isReady ? '' : html`<div class="empty"><p>No lock matches${UI.q ? html` “${code(UI.q)}”` : ''}. <button type="button" class="btn" data-do="clear">Show all</button></p></div>`}
  ${isReady ? pager(v, rows.length, UI) : ''}</section>`;
}

function lockRow(l, S, UI, now) {
  const old = !S.stale && now - ms(l.readAt) > 5 * SEC;
  return html`<tr role="row" class="row ${l.waiting ? '' : 'idle'}" data-lock=${l.name} ?data-sel=${UI.sel === l.name}>
    <td role="cell" class="d-name"><div class="two"><a class="m" href=${lockUrl(l.name)} title=${safe(l.name)}>${safe(l.name)}</a><span class="s h">${kindOf(l)}${flag(l)}${old ? html`<span class="pill" title="Among many names, idle ones are read less often">read ${dur(now - ms(l.readAt))} ago</span>` : ''}</span></div></td>
    <td role="cell" class="d-hold">${holderCell(l)}</td>
    <td role="cell" class="d-for num">${l.heldSince ? html`<span class="lbl">held </span>${ago(ms(l.heldSince), now)}` : html`<span class="mut">–</span>`}</td>
    <td role="cell" class="d-lease">${leaseCell(l, S, now)}</td>
    <td role="cell" class="d-wait">${l.standsBy && l.waiting ? standsBy(l.waiting, l) : html`${l.waiting ? html`<span class="lbl">waiting </span>` : ''}${dots(l, now)}`}</td>
    <td role="cell" class="d-long num">${l.waitedSince ? html`<span class="lbl">longest </span>${ago(ms(l.waitedSince), now)}` : html`<span class="mut">–</span>`}</td>
    <td role="cell" class="d-heat num">${l.standsBy ? html`<span class="mut">–</span>` : heat(l)}</td></tr>`;
}

const kindOf = l => l.kind + (l.kind === 'semaphore' ? ' of ' + int(l.capacity) : '');

function flag(l) {
  const f = l.flags[0];
  if (!f) return '';
  if (f.kind === 'deadlock') return html`<span class="pill bad">${icon('loop')}deadlock</span>`;
  if (f.kind === 'long') return html`<span class="pill bad">${icon('stuck')}${int(f.times)}× usual</span>`;
  return html`<span class="pill">${icon('tree')}holder waits</span>`;
}

const isWriter = (l, h) => l.kind === 'read-write' && h.weight > 1;

function holderCell(l) {
  const h = l.holders[0], n = l.holding;
  if (!h) return html`<span class="mut">${l.kind === 'latch' ? 'count ' + int(l.capacity) : 'free'}</span>`;
  const many = l.kind === 'semaphore' ? `${int(n)} holders, ${int(l.used)} of ${int(l.capacity)} permits` : `${int(n)} ${l.kind === 'read-write' ? 'readers' : 'holders'}`;
  const sub = h.message ? '“' + safe(h.message) + '”' : n > 1 ? `${who(h.label)} and ${int(n - 1)} more` : `claim ${h.claim}`;
  return html`<div class="two"><span>${n > 1 ? many : who(h.label)}${isWriter(l, h) ? html` <span class="mut">writes</span>` : ''}</span><span class="s" title=${sub}>${sub}</span></div>`;
}

function leaseCell(l, S, now) {
  if (!l.holders.length) return html`<span class="mut">–</span>`;
  const passed = S.passed, left = h => Math.max(0, h.leaseLeftMillis - passed);
  const h = l.holders.reduce((a, b) => left(a) <= left(b) ? a : b);
  if (S.stale) return html`<span class="lease">${ring(h, passed, true)}<span class="mut">unknown</span></span>`;
  if (h.lease === 'draining') return html`<span class="lease">${ring(h, passed)}<span class="bad"><b>${dur(left(h))}</b> left</span></span>`;
  return html`<span class="lease">${ring(h, passed)}<span title="Lease left: ${dur(left(h))}">${h.lease === 'renewed' ? 'renewed' : dur(left(h)) + ' left'}</span></span>`;
}

function empty(S) {
  const command = 'holdfast run nightly-report -- sleep 60';
  return html`<section class="panel"><div class="empty">${mark(40)}<h2>No locks yet</h2><p>The store is reachable and empty. As soon as a process takes or waits for a lock, it appears here. You don't have to reload.</p>
  <div class="snip"><code tabindex="0">${command}</code><button type="button" class="btn quiet" data-do="copy" data-v=${command}>${icon('copy')}Copy</button></div>
  <p>In Java: ${code('holdfast.lock("nightly-report").acquire()')}${S.overview.store.place ? html` on ${code(S.overview.store.place)}` : ''}.</p></div></section>`;
}

// ---------- One lock
export function lockView(S, UI, now, name) {
  if (S.kind !== 'lock' || S.key !== UI.viewQuery()) return ''; // what was sent last is another lock's
  const l = S.view;
  if (l === undefined) return S.overview.complete ? unknown(name) : html`<p class="mut">This name was not read yet.</p>`;
  const canWrite = !S.overview.readOnly && !S.stale, usual = l.usualMillis, first = l.holders[0];
  const longest = Math.max(1, ...l.queue.map(w => now - ms(w.since)));
  return html`
  <section class="panel fade" aria-labelledby="h-holder"><header><h2 id="h-holder">${l.holding > 1 ? plural(l.holding, 'holder') : 'Holder'}</h2>${flag(l)}<span class="sp"></span><span class="mut">${kindOf(l)} · ${l.order}</span></header>
    ${first ? repeat(l.holders, h => h.session + ' ' + h.claim, h => holderRow(l, h, S, now, canWrite)) : html`<div class="hold"><span></span><div><div class="who">${l.kind === 'latch' ? 'Count ' + int(l.capacity) : 'Free'}</div><div class="mut">${l.waiting ? 'It has no holder. A claim that waits is granted at its next poll.' : 'It is not held, and no claim waits.'}</div></div></div>`}
    ${S.overview.readOnly && first && first.token ? html`<div class="facts one">${icon('eye')}<span>This console is read-only. From a shell: ${code(`holdfast release ${shellWord(l.name)} --force --token ${first.token}`)}</span></div>` : ''}
    <dl class="facts">${l.newestToken ? html`<div><dt>Newest token</dt><dd class="m">${l.newestToken}</dd></div>` : ''}<div><dt>Waited per minute</dt><dd>${int(l.heat[l.heat.length - 2])} s</dd></div>${l.holders.length === 1 ? html`<div><dt>Session</dt><dd class="m">${safe(first.session)}</dd></div><div><dt>Claim</dt><dd class="m">${first.claim}</dd></div>` : ''}<div><dt>Usual hold</dt><dd>${usual === undefined ? 'not known yet' : dur(usual)}</dd></div><div><dt>Holds seen</dt><dd>${l.holds.length}${l.holds.length === 50 ? ' (the last 50)' : ''}</dd></div></dl></section>
  <section class="panel fade" aria-labelledby="h-why"><header><h2 id="h-why">Why am I waiting?</h2><span class="sp"></span><a class="go" href=${'api/lock?name=' + encodeURIComponent(l.name)} target="_blank" rel="noopener">JSON</a></header><div class="why"><p id="why">${safe(l.why)}</p><button type="button" class="btn" data-do="copywhy">${icon('copy')}Copy for a ticket</button></div></section>
  <div class="two-col">
  <section class="panel queue fade" aria-labelledby="h-q"><header><h2 id="h-q">${l.kind === 'election' ? 'Candidates' : l.kind === 'latch' ? 'Waiting for zero' : 'Queue'}</h2><span class="pill">${int(l.waiting)}</span><span class="sp"></span><span class="mut">first in line first</span></header>
    ${l.queue.length ? html`<ol>${repeat(l.queue, w => w.session + ' ' + w.claim, (w, i) => html`<li><span class="pl">${i + 1}</span><div class="two"><span><span>${who(w.label)}</span>${w.weight > 1 ? html` <span class="pill">${w.weight > 1e6 ? 'writer' : w.weight + ' permits'}</span>` : ''}</span><span class="s">${w.holds ? html`holds ${w.holds.map(x => html`<a class="go m" href=${lockUrl(x)}>${safe(x)}</a> `)}· ${int(w.behind)} behind` : `claim ${w.claim}`}</span></div>
      <div class="bar">${ago(ms(w.since), now)}${bar((now - ms(w.since)) / longest)}</div></li>`)}</ol>${l.waiting > l.queue.length ? html`<p class="quietly small">and ${int(l.waiting - l.queue.length)} more</p>` : ''}` : html`<p class="quietly">No claim waits.</p>`}</section>
  <section class="panel fade" aria-labelledby="h-tl"><header><h2 id="h-tl">Last holds</h2><span class="pill">${l.holds.length + l.holders.length}</span><span class="sp"></span><span class="mut">seen since ${clock(ms(l.seenSince))}</span></header>${timeline(l, now)}</section></div>`;
}

const shellWord = s => /^[\w.\/:@-]+$/.test(s) ? s : "'" + safe(s).replaceAll("'", "'\\''") + "'";

function unknown(name) {
  return html`<section class="panel"><div class="empty"><h2>Nothing is recorded under this name</h2><p>${code(clip(name, 200))} is not held, no claim waits for it, and this console has not seen it. It may never have been used, or its last trace has been cleaned up.</p><p><a class="go" href="#/">All locks</a></p></div></section>`;
}

function holderRow(l, h, S, now, canWrite) {
  const left = Math.max(0, h.leaseLeftMillis - S.passed), usual = l.usualMillis;
  const state = S.stale ? html`<span class="mut">Whether the holder is alive is unknown while the store is unreachable.</span>`
    : h.lease === 'draining' ? html`<span class="bad"><b>Not renewed.</b></span> The hold ends in ${dur(left)} unless the process returns.`
      : h.waitsFor !== undefined ? html`The holder itself <a class="go" href=${lockUrl(h.waitsFor)}>waits for ${code(h.waitsFor)}</a>. <a class="go" href="#/blocking">Show the chain</a>`
      : h.lease === 'renewed' ? html`Renewed: the process is alive.${usual && now - ms(h.since) > Math.max(3 * usual, 30 * SEC) && l.waiting && !l.standsBy ? ' If nothing moves, its thread is busy or stuck.' : ''}` : html`<span class="mut">Whether it is renewed shows within a third of its ttl.</span>`;
  return html`<div class="hold"><div class="bigring">${ring(h, S.passed, S.stale, true)}<span>${S.stale ? html`?<small>unknown</small>` : html`${dur(left).replace(NB, ' ')}<small>left</small>`}</span></div>
    <div><div class="who">${who(h.label)}</div>${h.message ? html`<div>“${safe(h.message)}”</div>` : ''}
    <div class="mut">Held for ${ago(ms(h.since), now)} since ${clock(ms(h.since))}${h.token ? html`, token <span class="m">${h.token}</span>` : ''}${isWriter(l, h) ? ', writes' : h.weight > 1 ? `, ${h.weight} permits` : ''}${usual && !l.standsBy && l.kind !== 'task' ? html`; usually ${dur(usual)}` : ''}</div>
    <div>${state}</div></div>
    <div class="act">${S.overview.readOnly ? html`<span class="pill">${icon('eye')}Read-only</span>` : h.token ? html`<button type="button" class="btn danger" data-do="force" data-t=${h.token} ?disabled=${!canWrite}>Force release…</button>` : ''}</div></div>`;
}

// ---------- Blocking
export function blockingView(S, UI, now) {
  const v = S.kind === 'blocking' ? S.view : undefined;
  if (!v) return '';
  const seg = (value, label) => html`<button type="button" data-do="tree" data-v=${value} aria-pressed=${yn(UI.tree === value)}>${label}</button>`;
  const cycles = v.deadlocks || []; // an older server knows none
  const isNone = !v.waiting && !cycles.length && !v.roots.length && !v.hidden, dead = S.overview.counts.deadlocks;
  const head = html`<div class="tools panel"><span>${isNone ? 'No claim waits.' : html`${dead ? html`<b class="bad">${plural(dead, 'deadlock')}</b>, ` : ''}<b>${plural(v.roots.length, 'root blocker')}</b>, ${plural(v.waiting, 'waiting claim')}${v.hidden || UI.short ? html` <button type="button" class="go lnk" data-do="short">${UI.short ? 'Hide waits below 5 s' : `Show ${v.hidden} with waits below 5 s`}</button>` : ''}`}</span><span class="sp"></span><div class="seg" role="group" aria-label="Show as">${seg('draw', 'Drawing')}${seg('text', 'Text')}</div></div>`;
  if (isNone) return html`${head}<section class="panel"><div class="empty">${icon('check')}<h2>Nothing is blocked</h2><p>Every lock that is held is held without a queue behind it.</p></div></section>`;
  if (UI.tree === 'text') return html`${head}<section class="panel" aria-label="Blocking as text"><header><h2>Text</h2><span class="sp"></span><button type="button" class="btn" data-do="copytree">${icon('copy')}Copy</button></header><pre class="text" id="treetext" tabindex="0">${treeText(v, now)}</pre></section>`;
  return html`${head}
  ${cycles.map((c, i) => deadlock(c, i, now))}
  ${v.roots.map(r => html`<section class="panel" aria-label="Behind ${who(r.label)}"><p class="rootline"><b>${who(r.label)}</b> <span class="mut">blocks ${plural(r.behind, 'claim')}, directly or not</span></p><div class="tree" tabindex="0" role="group" aria-label="Drawing of who waits behind ${who(r.label)}">${tree(r, now)}</div></section>`)}
  ${v.roots.length || v.hidden || dead ? '' : html`<p class="mut">They wait for locks without a holder, and are granted at their next poll.</p>`}
  ${v.cut ? html`<p class="mut">${int(v.cut)} more claims are not drawn.</p>` : ''}`;
}

function deadlock(c, i, now) {
  const young = c.actors[c.youngest];
  return html`<section class="panel fade" aria-labelledby="dead${i}"><header>${icon('loop')}<h2 id="dead${i}" class="bad">Deadlock of ${c.actors.length}</h2><span class="mut">for ${ago(ms(c.since), now)}${c.behind ? ` · ${int(c.behind)} more ${c.behind === 1 ? 'waits' : 'wait'} behind` : ''}</span></header>
    <p class="rootline">None of them can continue until one gives up. <b>${who(young.label)}</b> was the last to wait; ${young.held ? html`releasing its <a class="go m" href=${lockUrl(young.held)}>${safe(young.held)}</a> breaks the cycle.` : 'ending that wait breaks the cycle.'}</p><div class="tree" tabindex="0" role="group" aria-label="Drawing of the deadlock">${cycle(c, i, now)}</div></section>`;
}

// ---------- Sessions
export function sessionsView(S, UI, now) {
  const v = S.kind === 'sessions' ? S.view : undefined;
  if (!v) return '';
  const chips = (names, n) => n ? html`<div class="chips">${names.map(x => html`<a class="m" href=${lockUrl(x)} title=${safe(x)}>${safe(clip(x, 26))}</a>`)}${n > names.length ? html`<span class="mut">+ ${int(n - names.length)}</span>` : ''}</div>` : html`<span class="mut">–</span>`;
  return html`<section class="panel fade" aria-labelledby="h-s"><header><h2 id="h-s">Sessions that hold or wait</h2><span class="pill">${int(v.total)}</span></header>
  ${v.total ? '' : html`<p class="quietly">No session holds or waits.</p>`}
  <div class="scroll"><table class="cardy sess" role="table" aria-label="Sessions"><thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col" class="w-p">Process</th><th role="columnheader" scope="col" class="w-s">State</th><th role="columnheader" scope="col" class="w-k">Last keep-alive</th><th role="columnheader" scope="col">Holds</th><th role="columnheader" scope="col">Waits for</th></tr></thead>
  <tbody role="rowgroup">${repeat(v.sessions, r => r.session, r => sessionRow(r, S, UI, chips))}</tbody></table></div>
  ${v.total > v.sessions.length ? html`<div class="pager">The first ${v.sessions.length} of ${int(v.total)}. Filter the locks by process to find others.</div>` : ''}</section>`;
}

function sessionRow(r, S, UI, chips) {
  const isSilent = r.state === 'draining', silent = r.silentMillis + S.passed;
  const state = S.stale || r.state === 'unknown' ? html`<span class="outcome mut">${icon('help')}unknown</span>` : isSilent ? html`<span class="outcome bad">${icon('ring')}<b>silent</b></span>` : html`<span class="outcome">${icon('check')}renewed</span>`;
  const last = r.silentMillis === undefined ? html`<span class="mut">not known yet</span>` : html`<span class="ka ${isSilent ? 'doubt' : ''}">${keepAlive(silent, r.ttlMillis)}<span>${silent < SEC ? '< 1' + NB + 's' : dur(silent)} ago${isSilent && !S.stale ? html`, <b class="bad">ends in ${dur(Math.max(0, r.leftMillis - S.passed))}</b>` : html` <span class="mut">of ${dur(r.ttlMillis)}</span>`}</span></span>`;
  return html`<tr role="row" class="row" data-session=${r.session} ?data-sel=${UI.sel === r.session}>
    <td role="cell"><div class="two"><span><b>${who(r.label)}</b></span><span class="s m">${safe(r.session)}</span></div></td>
    <td role="cell">${state}</td><td role="cell">${last}</td>
    <td role="cell" class="d-holds"><span class="lbl">Holds</span>${chips(r.holds, r.holding)}</td><td role="cell" class="d-waits">${r.waiting ? html`<span class="lbl">Waits for</span>` : ''}${wide() || r.waiting ? chips(r.waits, r.waiting) : ''}</td></tr>`;
}

// ---------- Without a session, and the forced release
export const keyView = () => html`<section class="panel"><div class="empty">${icon('key')}<h2>This page needs its key</h2><p>The link printed by <span class="m">holdfast console</span> works once. Press Enter in the terminal where it runs to get a new one. In an application, sign in and reload.</p></div></section>`;

export function forceDialog(D, S, now) {
  const h = D.holder, l = D.lock, next = l.queue[0];
  const close = html`<button type="button" class="btn quiet icon" data-do="close" aria-label="Close">${icon('x')}</button>`;
  if (D.result) return html`<div class="hd">${icon(D.result.status === 200 ? 'check' : 'warn')}<h2 id="dialog-title">${D.result.title}</h2></div><div class="bd"><p>${D.result.text}</p></div><div class="ft"><button type="button" class="btn" data-do="close">Close</button></div>`;
  const present = S.kind === 'lock' && S.view && S.view.name === l.name ? S.view.holders.some(x => x.token === h.token) : true;
  const isDraining = h.lease === 'draining';
  return html`<form method="dialog" data-form="force"><div class="hd"><h2 id="dialog-title">Force release of ${code(l.name)}?</h2>${close}</div><div class="bd">
    <dl class="sum"><dt>Holder</dt><dd><b>${who(h.label)}</b>${h.message ? html`<br>“${safe(h.message)}”` : ''}</dd><dt>Held for</dt><dd>${dur(now - ms(h.since))} since ${clock(ms(h.since))}</dd><dt>Token</dt><dd class="m">${h.token}</dd><dt>Lease</dt><dd>${isDraining ? html`<b class="bad">not renewed</b>` : h.lease === 'renewed' ? 'renewed: the process is alive' : 'not known yet'}</dd><dt>Next in line</dt><dd>${next ? html`${who(next.label)}, waiting for ${dur(now - ms(next.since))}${l.waiting > 1 ? `, and ${int(l.waiting - 1)} more` : ''}` : 'none'}</dd></dl>
    ${present ? '' : html`<p class="note" role="alert">This hold has ended meanwhile. Releasing it will change nothing.</p>`}
    <div><h3 class="h3" id="what">What will happen</h3><ol class="steps" aria-labelledby="what"><li><span>The store ends the hold with token ${h.token}. If that hold is no longer there, nothing changes.</span></li><li><span>${next ? html`${who(next.label)} gets the lock at once, under a greater token.` : 'The lock is free.'}</span></li><li><span>${who(h.label)} is notified, but its code continues until it checks. <b>Until then both may work at once.</b> Only a checked token keeps its late writes out.</span></li></ol></div>
    <p class="note">${isDraining ? 'The lease ends soon without you. Waiting is the safer way.' : `Look at ${who(h.label)} first: a thread dump shows what it waits for.`}</p>
    <label class="lab"><span>Type ${code(l.name)} to confirm</span><input class="field m" id="confirm" autocomplete="off" spellcheck="false" autocapitalize="off"></label></div>
    <div class="ft"><button type="button" class="btn" data-do="close">Cancel</button><button class="btn danger full" id="do-force" ?disabled=${D.typed !== safe(l.name) || D.busy}>Release token ${h.token}</button></div></form>`;
}

export function helpDialog() {
  const k = (keys, what) => html`<dt>${keys.map(x => html`<kbd>${x}</kbd>`)}</dt><dd>${what}</dd>`;
  return html`<div class="hd"><h2 id="dialog-title">Keys</h2><button type="button" class="btn quiet icon" data-do="close" aria-label="Close">${icon('x')}</button></div><div class="bd"><dl class="keys">${k(['/'], 'Filter locks or tasks')}${k(['j', 'k'], 'Next and previous row')}${k(['Enter'], 'Open the row')}${k(['Esc'], 'Close, clear the filter, or go back')}${k(['n', 'b'], 'Next and previous page')}${k(['1', '2', '3', '4'], 'Locks, blocking, sessions, tasks')}${k(['c'], 'Copy the sentence for a ticket')}${k(['f'], 'Force release (asks first)')}${k(['p'], 'Pause and resume')}${k(['t'], 'Light or dark')}${k(['?'], 'This list')}</dl><p class="mut">Rows keep their places while you point at them or move with j and k.</p></div>`;
}
