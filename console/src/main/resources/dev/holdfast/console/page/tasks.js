// The view of scheduled tasks: how the last runs of each ended.
import { html, svg } from './lit/lit-html.js';
import { repeat } from './lit/directives/repeat.js';
import { HOUR, NB, ms, int, plural, dur, clock, ago, safe, who, yn, icon } from './words.js';
import { PAGE, inPlace, code, filterField, pager } from './views.js';

const STATES = { failing: ['lost'], overdue: ['clock'], inactive: ['clock'], running: ['ring'], failed: ['lost'], ok: ['check'], unknown: ['help'], none: ['help', 'no runs recorded'], unreadable: ['warn', 'not readable'], unread: ['ring', 'not read yet'] };
const OUTCOMES = { ok: 'check', failed: 'lost', lost: 'lost', running: 'ring', closed: 'check', unknown: 'help' };
const NEWER = 'recorded by a newer version of Holdfast';
const isBad = run => run.outcome === 'failed' || run.outcome === 'lost';
const word = run => run.outcome === 'lost' ? 'lost its lock' : run.outcome === 'closed' ? 'ended by hand' : run.outcome;

/** How long a run took or has lasted; undefined if that is unknown, as with a clock that was set back. */
function took(run, now) {
  const t = run.from === undefined ? NaN : (run.to === undefined ? now : ms(run.to)) - ms(run.from);
  return t >= 0 ? t : undefined;
}
const tookText = (run, now) => run.outcome === 'running' || took(run, now) === undefined ? '–' : dur(took(run, now));

/** Runs as bars, oldest first, as high as they were long. */
function bars(task, now) {
  const runs = [...task.runs].reverse(), most = Math.max(1, ...runs.map(r => took(r, now) || 0));
  const count = outcome => runs.filter(r => r.outcome === outcome).length;
  const said = Object.keys(OUTCOMES).filter(count).map(o => count(o) + ' ' + o).join(', ');
  return html`<svg class="runs" width="109" height="22" role="img" aria-label="${plural(runs.length, 'run')}${said ? ': ' + said : ''}">${runs.map((r, i) => {
    const h = Math.max(4, (took(r, now) || 0) / most * 21), x = i * 11 + .75;
    return svg`<g><title>${(r.from === undefined ? 'token ' + r.token : clock(ms(r.from))) + ': ' + word(r) + (took(r, now) === undefined ? '' : ', ' + dur(took(r, now)))}</title><rect class=${isBad(r) ? 'fail' : r.outcome === 'running' || r.outcome === 'unknown' ? 'live' : ''} x=${x} y=${(21.5 - h).toFixed(1)} width="7.5" height=${h.toFixed(1)} rx="1.5"/>${isBad(r) ? svg`<path class="x" d="M${x + 1.25} ${Math.max(1, 13 - h).toFixed(1)}l5 5m0-5l-5 5"/>` : ''}</g>`;
  })}</svg>`;
}

export function tasksView(S, UI, now) {
  const v = S.kind === 'tasks' ? S.view : undefined;
  if (!v) return '';
  const rows = inPlace(v.tasks, UI, S.key), refused = rows.find(k => k.problem);
  const silent = rows.length && rows.every(k => k.state === 'none');
  return html`<section class="panel" aria-labelledby="h-t"><h2 class="sr" id="h-t">Scheduled tasks</h2>
  <div class="tools">${filterField(UI, 'Name of a task', 'Find a task by its name')}<span class="sp"></span><span class="mut nw">${plural(v.total, 'task')}, ten runs each <a class="go" href=${'api/tasks?' + UI.viewQuery()} target="_blank" rel="noopener">JSON</a></span></div>
  ${refused ? html`<div class="banner in" role="alert">${icon('warn')}<div><b>Some runs can't be read.</b> The store may be older than this console, or its user may lack a permission: ${safe(refused.problem)}</div></div>` : ''}
  ${silent ? html`<p class="quietly">No run is recorded. Earlier versions of Holdfast and of its stores record none.</p>` : ''}
  ${rows.length ? html`<div class="scroll"><table class="cardy tasks" role="table" aria-label="Scheduled tasks" aria-rowcount=${v.total}><thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col" class="k-n">Task</th><th role="columnheader" scope="col" class="k-s">State</th><th role="columnheader" scope="col" class="num k-l">Last start</th><th role="columnheader" scope="col" class="num k-t">Took</th><th role="columnheader" scope="col">By</th><th role="columnheader" scope="col" class="k-r">Runs, oldest first</th></tr></thead>
  <tbody role="rowgroup" class="fade">${repeat(rows, k => k.name, k => row(k, UI, now))}</tbody></table></div>` : none(UI, v)}
  ${pager(v, rows.length, UI)}</section>
  <p class="mut small">Shown are the tasks whose locks this console has seen: on databases those of the last day or longer, on other stores those that ran since it began. Any other is found by its whole name. Last starts are by the clocks of the machines.</p>`;
}

function none(UI, v) {
  if (v.pending) return html`<div class="empty"><p>Looking for runs of ${code(UI.q)}…</p></div>`;
  if (UI.q) return html`<div class="empty"><p>No task seen matches “${code(UI.q)}”, and no run is recorded under exactly this name. <button type="button" class="btn" data-do="clear">Show all</button></p></div>`;
  return html`<div class="empty">${icon('clock')}<h2>No task seen yet</h2><p>A task appears when <span class="m">runIfDue</span> or <span class="m">@ScheduledLock</span> runs it. To see the last runs of one now, type its name.</p></div>`;
}

function row(k, UI, now) {
  const state = STATES[k.state] || ['help'], last = k.runs[0], open = UI.openTask === k.name, start = k.lastStart === undefined ? undefined : ms(k.lastStart);
  const label = k.state === 'running' ? 'running for ' + dur(Math.max(0, now - start)) : k.state === 'inactive' ? 'last run ' + plural(Math.floor((now - start) / (24 * HOUR)), 'day') + ' ago' : state[1] || k.state;
  const sub = !last ? k.problem && safe(k.problem) : last.outcome === 'unknown' ? NEWER : last.error && safe(last.error);
  return html`<tr role="row" class="row" data-task=${k.name} ?data-sel=${UI.sel === k.name}>
    <td role="cell"><div class="two"><span><button type="button" class="lnk m" data-do="task" data-v=${k.name} aria-expanded=${yn(open)} title=${safe(k.name)}>${safe(k.name)}</button></span><span class="s">${k.everyMillis === undefined ? 'rhythm not known yet' : 'usually every ' + dur(k.everyMillis)}</span></div></td>
    <td role="cell"><span class="outcome ${k.trouble ? 'bad' : ''}">${icon(state[0])}${k.trouble ? html`<b>${label}</b>` : html`<span>${label}</span>`}</span></td>
    <td role="cell" class="num">${start === undefined ? html`<span class="mut">–</span>` : html`${ago(start, now)} ago`}</td><td role="cell" class="num"><span class="lbl">took </span>${last ? tookText(last, now) : '–'}</td>
    <td role="cell" class="d-who"><div class="two"><span>${last && last.who !== undefined ? who(last.who) : html`<span class="mut">–</span>`}</span><span class="s" title=${sub || ''}>${last ? html`token <span class="m">${last.token}</span>${sub ? ' · ' + sub : ''}` : sub || ''}</span></div></td><td role="cell" class="d-runs">${last ? bars(k, now) : ''}</td></tr>
    ${open ? html`<tr role="row"><td role="cell" colspan="6" class="d-runs">${history(k, now)}</td></tr>` : ''}`;
}

function history(k, now) {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Runs of ${safe(k.name)}"><table class="plainrow"><thead><tr><th scope="col">Start</th><th scope="col">Outcome</th><th scope="col" class="num">Took</th><th scope="col">By</th><th scope="col" class="num">Token</th></tr></thead><tbody>${k.runs.map(r => html`<tr><td class="nw">${r.from === undefined ? '–' : html`${ago(ms(r.from), now)} ago`}</td><td><span class="outcome ${isBad(r) ? 'bad' : ''}">${icon(OUTCOMES[r.outcome] || 'help')}${word(r)}</span> <span class="mut">${r.outcome === 'unknown' ? NEWER : r.error ? safe(r.error) : ''}</span></td><td class="num">${tookText(r, now)}</td><td>${r.who === undefined ? '–' : who(r.who)}</td><td class="num m">${r.token}</td></tr>`)}</tbody></table></div>`;
}
