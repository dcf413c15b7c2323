// Drawings. Widths and colours are attributes of SVG, since the page's policy forbids style attributes.
import { html, svg, nothing } from './lit/lit-html.js';
import { SEC, MIN, HOUR, NB, ms, int, plural, dur, clock, clip, safe, who, lockUrl } from './words.js';

export const wide = () => innerWidth > 760;
const mainWidth = () => { const m = document.querySelector('main'); return m ? m.clientWidth : 1000; };
const f1 = n => n.toFixed(1);

/** What is left of a lease: full while it is renewed, draining if not, dashed if unknown. */
export function ring(holder, passed, unknown, big) {
  const left = Math.max(0, holder.leaseLeftMillis - passed);
  const share = unknown || !holder.leaseMillis ? 0 : Math.min(100, left / holder.leaseMillis * 100);
  const state = unknown ? 'unknown' : holder.lease === 'draining' ? 'draining' : '';
  return html`<svg class="ring ${state} ${big ? 'big' : ''}" viewBox="0 0 20 20" aria-hidden="true"><circle class="bg" cx="10" cy="10" r="8"/><circle class="fg" cx="10" cy="10" r="8" pathLength="100" stroke-dasharray="${f1(share)} 100" transform="rotate(-90 10 10)"/></svg>`;
}

/** The queue as squares, larger and darker the longer each waits. */
export function dots(lock, now) {
  const n = lock.waiting;
  if (!n) return html`<span class="mut">–</span>`;
  const ages = lock.waiters.map(w => now - ms(w)), most = Math.max(1, ...ages);
  return html`<span class="q"><b>${int(n)}</b><svg width=${ages.length * 8} height="10" aria-hidden="true">${ages.map((age, i) => { const f = .3 + .7 * Math.max(0, age) / most, z = 3 + 3 * f;
    return svg`<rect x=${i * 8} y=${f1((10 - z) / 2)} width="6" height=${f1(z)} rx="1.5" fill-opacity=${f.toFixed(2)} />`; })}</svg>${n > ages.length ? html`<span class="mut">+${int(n - ages.length)}</span>` : ''}</span>`;
}

/** Seconds waited in each of the last minutes. */
export function heat(lock) {
  const full = lock.heat[lock.heat.length - 2], top = Math.max(120, ...lock.heat);
  return html`<span class="heat"><svg width="59" height="16" aria-hidden="true">${lock.heat.map((x, i) => { const h = x ? Math.max(2, x / top * 16) : 1;
    return svg`<rect class=${x ? '' : 'z'} x=${i * 5} y=${f1(16 - h)} width="4" height=${f1(h)} fill-opacity=${x ? (.35 + .65 * Math.min(1, x / 600)).toFixed(2) : 1} />`; })}</svg><span class="num">${full ? int(full) + NB + 's' : html`<span class="mut">0</span>`}</span></span>`;
}

export function spark(a) {
  if (a.length < 2) return '';
  const lo = Math.min(...a), hi = Math.max(...a, lo + 1);
  const points = a.map((v, i) => f1(i / (a.length - 1) * 64) + ' ' + f1(22 - (v - lo) / (hi - lo) * 20)).join('L');
  return html`<svg class="spark" viewBox="0 0 64 24" preserveAspectRatio="none" aria-hidden="true"><path class="area" d="M0 24L${points}L64 24Z"/><path d="M${points}"/></svg>`;
}

export function bar(share) {
  const w = Math.max(0, Math.min(1, share)) * 100;
  return html`<svg width="100" height="4" aria-hidden="true"><rect class="t" width="100" height="4" rx="2"/><rect x=${f1(100 - w)} width=${f1(w)} height="4" rx="2"/></svg>`;
}

export function keepAlive(silent, ttl) {
  return html`<svg width="90" height="8" aria-hidden="true"><rect class="t" y="2" width="90" height="4" rx="2"/><rect class="f" y="2" width=${f1(Math.min(1, silent / ttl) * 90)} height="4" rx="2"/><line class="lim" x1="30.5" x2="30.5" y1="0" y2="8"/></svg>`;
}

const END = { released: 'released', expired: 'lost: lease expired', forced: 'released by force', now: 'holds now' };
const BAR = { now: 'now', expired: 'loss', forced: 'force' };

/** The last holds of a lock: a row for each process. */
export function timeline(lock, now) {
  const live = lock.holders.map(h => ({ process: h.label, token: h.token, from: ms(h.since), to: now, waited: 0, end: 'now', handOvers: 0 }));
  const past = lock.holds.map(h => ({ ...h, from: ms(h.from), to: ms(h.to), waited: h.waitedMillis }));
  const all = [...past, ...live].slice(-50);
  if (!all.length) return html`<div class="empty"><p>No hold seen yet. The timeline starts when this console does; the store itself keeps no history.</p></div>`;
  const rows = [...new Set([...all].reverse().map(h => h.process))].slice(0, 10);
  const w = wide(), room = w ? (innerWidth > 1100 ? (mainWidth() - 68) * 7 / 12 - 30 : mainWidth() - 78) : mainWidth() - 50;
  const width = Math.max(300, Math.min(900, room)), x0 = w ? 124 : 0, x1 = width - 6, rh = w ? 26 : 36;
  const first = Math.max(Math.min(...all.map(h => h.from)), now - HOUR), span = Math.max(now - first, 5 * SEC), X = v => x0 + Math.max(0, (v - first) / span) * (x1 - x0);
  const unit = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600].map(s => s * SEC).find(u => span / u <= (w ? 6 : 4)) || HOUR;
  const ticks = [];
  for (let v = 0; v <= span; v += unit) if (!v || X(now - v) > x0 + 20) ticks.push(v);
  const height = rows.length * rh + 26, count = end => all.filter(h => h.end === end).length;
  return html`<div class="tl"><svg width=${width} height=${height} viewBox="0 0 ${width} ${height}" role="img" aria-label="Timeline of ${plural(all.length, 'hold')} by ${plural(rows.length, 'process', 'processes')} over ${dur(span)}. ${count('expired')} lost, ${count('forced')} released by force."><defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="x" x1="0" y1="0" x2="0" y2="5"/></pattern></defs>
  ${ticks.map(v => svg`<line class="grid" x1=${f1(X(now - v))} x2=${f1(X(now - v))} y1="0" y2=${height - 22} /><text x=${f1(v ? X(now - v) : x1)} y=${height - 6} text-anchor=${v ? 'middle' : 'end'}>${v ? '−' + dur(v) : 'now'}</text>`)}
  ${rows.map((r, i) => svg`<text class="lab" x="0" y=${i * rh + (w ? 17 : 12)}>${clip(who(r), w ? 18 : 40)}</text>`)}
  ${all.filter(h => rows.includes(h.process)).map(h => { const y = rows.indexOf(h.process) * rh + (w ? 5 : 17), a = X(h.from), b = Math.max(a + 2, X(h.to)), q = X(h.from - h.waited);
    const tip = `${who(h.process)}, token ${h.token}: held ${dur(h.to - h.from)} from ${clock(h.from)}${h.waited ? ', waited ' + dur(h.waited) : ''}, ${END[h.end]}${h.handOvers ? ', ' + plural(h.handOvers, 'hand-over') + ' inside' : ''}`;
    return svg`<g><title>${tip}</title>${h.waited > 500 ? svg`<line class="wait" x1=${f1(q)} x2=${f1(a)} y1=${y + 15.5} y2=${y + 15.5} />` : nothing}<rect class=${BAR[h.end] || 'ok'} x=${f1(a)} y=${y} width=${f1(b - a)} height="13" rx="2"/>${h.end === 'now' && b - a > 70 ? svg`<text class="in" x=${f1(b - 6)} y=${y + 10} text-anchor="end">holds now</text>` : nothing}${h.end === 'expired' || h.end === 'forced' ? svg`<path class="x" d="M${f1(b + 3)} ${y + 4}l6 6m0-6l-6 6"/>` : nothing}</g>`; })}</svg></div>
  <div class="legend" aria-hidden="true"><span><svg width="16" height="10"><rect width="16" height="10" rx="2" fill="var(--accent)"/></svg>held</span><span><svg width="16" height="10"><line x1="0" x2="16" y1="6" y2="6" stroke="var(--muted)" stroke-width="1.5"/></svg>waited</span><span><svg width="12" height="10"><path d="M2 1l8 8m0-8l-8 8" stroke="var(--trouble)" stroke-width="1.75"/></svg>lost or forced</span></div>
  <p class="quietly small">This console reads the store twice a second at most, so shorter holds may be missing.</p>
  <details class="tbl"><summary>Show as a table</summary><div class="scroll" tabindex="0" role="group" aria-label="Holds as a table"><table class="plainrow"><thead><tr><th scope="col" class="num">Token</th><th scope="col">Process</th><th scope="col">From</th><th scope="col" class="num">Held</th><th scope="col" class="num">Waited</th><th scope="col">End</th></tr></thead><tbody>${[...all].reverse().map(h => html`<tr><td class="num m">${h.token}</td><td>${who(h.process)}</td><td>${clock(h.from)}</td><td class="num">${dur(h.to - h.from)}</td><td class="num">${h.waited ? dur(h.waited) : '–'}</td><td>${END[h.end]}</td></tr>`)}</tbody></table></div></details>`;
}

// ---------- The blocking forest
const verb = n => n.waits !== undefined ? 'waits' : 'holds';
const nameOf = n => n.waits !== undefined ? n.waits : n.holds[0];
const sinceOf = n => ms(n.waits !== undefined ? n.waitsSince : n.heldSince);

function box(n, x, y, w, cls, now) {
  const name = nameOf(n), d = dur(now - sinceOf(n)), thread = n.thread ? safe(n.thread) : '';
  return svg`<a href=${lockUrl(name)} class=${cls}><rect class="box" x=${x} y=${y} width=${w} height="46" rx="7"/><foreignObject x=${x} y=${y} width=${w} height="46"><div class="nb" title="${who(n.label)} ${thread ? `thread ${thread} ` : ''}${n.behind ? n.behind + ' behind, ' : ''}${verb(n)} ${safe(name)} ${d}"><span class="n1"><b>${who(n.label)}${thread ? html` <span class="mut">${thread}</span>` : ''}</b>${n.behind ? html` <span class="cnt">${int(n.behind)}<span class="sr"> behind,</span></span>` : ''}</span> <span class="n2">${verb(n)} <span class="m">${safe(name)}</span> <span>${d}</span></span></div></foreignObject></a>`;
}

function foldKids(n) {
  const leaves = n.children.filter(k => !k.children.length), rest = n.children.filter(k => k.children.length).sort((a, b) => b.behind - a.behind);
  return leaves.length > 4 ? [...rest, ...leaves.slice(0, 3), { fold: leaves.length - 3, lock: leaves[3].waits, children: [] }] : [...rest, ...leaves];
}

const fold = (k, x, y, w) => svg`<a href=${lockUrl(k.lock)} class="fold"><rect class="box" x=${x} y=${y} width=${w} height="30" rx="7"/><foreignObject x=${x} y=${y} width=${w} height="30"><div class="nb one"><span class="n2">+ ${int(k.fold)} more wait for <span class="m">${safe(k.lock)}</span></span></div></foreignObject></a>`;

const node = (k, x, y, w, cls, now) => k.fold ? fold(k, x, y, w) : box(k, x, y, w, cls, now);
const middle = k => k.fold ? 15 : 23;
const picture = (width, height, content) => html`<svg width=${width} height=${height} viewBox="0 0 ${width} ${height}">${content}</svg>`;

/** Draws an actor and, indented, all behind it, downwards; returns where the next one may begin. */
function downwards(n, x, y, w, cls, now, parts, depth = 0) {
  parts.push(node(n, x, y, w, cls, now));
  let next = y + (n.fold ? 38 : 54);
  const step = depth < 12 ? 16 : 0;
  for (const k of foldKids(n)) {
    parts.unshift(svg`<path class="edge" d="M${x + 7} ${y + 46}V${next + middle(k)}H${x + step}"/>`);
    next = downwards(k, x + step, next, w - step, '', now, parts, depth + 1);
  }
  return next;
}

/** A root blocker and all behind it: to the right, or downwards on phones. */
export function tree(root, now) {
  const w = wide(), room = mainWidth() - (w ? 78 : 50), parts = [], edges = [];
  if (!w) {
    const height = downwards(root, 2, 2, room - 4, 'root', now, parts);
    return picture(room, height, parts);
  }
  let row = 2;
  const depth = n => 1 + Math.max(0, ...foldKids(n).map(depth)), deep = depth(root), gap = 44;
  const bw = Math.max(196, Math.min(286, (room - (deep - 1) * gap) / deep));
  const place = (n, d) => {
    const x = 2 + d * (bw + gap), kids = foldKids(n);
    let y = row;
    if (!kids.length) row += n.fold ? 40 : 56;
    else {
      const placed = kids.map(k => place(k, d + 1));
      y = placed[0].y;
      placed.forEach((c, i) => { const yb = c.y + middle(c), ya = y + 23, xa = x + bw, xm = xa + gap / 2;
        edges.push(svg`<path class="edge" d="M${xa} ${ya}${i || ya !== yb ? `H${xm}V${yb}H${c.x}` : `H${c.x}`}"/>`); });
    }
    parts.push(node(n, x, y, bw, d === 0 ? 'root' : '', now));
    return { x, y, fold: n.fold };
  };
  place(root, 0);
  return picture(4 + deep * bw + (deep - 1) * gap, row - 6, [edges, parts]);
}

/** Actors that wait for each other, joined by arrows; below each, those behind it. */
export function cycle(c, index, now) {
  const w = wide(), room = mainWidth() - (w ? 78 : 50), k = c.actors.length, parts = [], edges = [];
  const arrow = svg`<defs><marker id="arr${index}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L10 5L0 10Z" fill="var(--trouble)"/></marker></defs>`;
  const edge = d => edges.push(svg`<path class="cedge" d=${d} marker-end="url(#arr${index})"/>`);
  const label = (x, y, s, most) => { const t = clip(safe(s), Math.max(6, Math.floor(most / 7.4))), tw = t.length * 7.3 + 10;
    edges.push(svg`<rect class="cbg" x=${x - tw / 2} y=${y - 9} width=${tw} height="18"/><text class="clab" x=${x} y=${y + 4} text-anchor="middle">${t}</text>`); };
  const kids = (n, x, y, bw, from) => {
    for (const kid of foldKids(n)) {
      if (from) edges.push(svg`<path class="edge" d="M${x - 14} ${from}V${y + middle(kid)}H${x}"/>`);
      y = downwards(kid, x, y, bw, '', now, parts);
    }
    return y;
  };
  if (w) {
    const gap = 116, bw = Math.max(190, Math.min(250, (room - 6 - (k - 1) * gap) / k)), top = 42;
    let low = top + 50;
    c.actors.forEach((n, i) => {
      const x = 2 + i * (bw + gap);
      parts.push(box(n, x, top, bw, 'cyc', now));
      if (i < k - 1) { edge(`M${x + bw + 2} ${top + 23}H${x + bw + gap - 3}`); label(x + bw + gap / 2 - 3, top + 9, n.waits, gap - 6); }
      low = Math.max(low, kids(n, x + 28, top + 60, bw - 28, top + 47) - 4);
    });
    const xa = 2 + (k - 1) * (bw + gap) + bw / 2, xb = 2 + bw / 2, yy = 14;
    edge(`M${xa} ${top - 1}V${yy + 8}Q${xa} ${yy} ${xa - 8} ${yy}H${xb + 8}Q${xb} ${yy} ${xb} ${yy + 8}V${top - 3}`);
    label((xa + xb) / 2, yy, c.actors[k - 1].waits, 300);
    return picture(4 + k * bw + (k - 1) * gap, low, [arrow, edges, parts]);
  }
  const rail = 22, bw = room - rail - 4;
  let y = 4 - 84;
  c.actors.forEach((n, i) => {
    if (i) { edge(`M${rail + bw / 2} ${y + 47}V${y + 81}`); label(rail + bw / 2, y + 62, c.actors[i - 1].waits, 200); }
    parts.push(box(n, rail, y += 84, bw, 'cyc', now));
  });
  edge(`M${rail - 1} ${y + 23}H14Q6 ${y + 23} 6 ${y + 15}V35Q6 27 14 27H${rail - 3}`);
  y += 62;
  for (const n of c.actors) y = kids(n, rail + 16, y, bw - 16);
  return picture(room, y, [arrow, edges, parts]);
}

/** The same as text. */
export function treeText(view, now) {
  const out = [], held = n => n.holds.map(safe).join(', ');
  const walk = (n, pre, last, isRoot) => {
    const own = n.waits !== undefined ? `waits ${dur(now - ms(n.waitsSince))} for ${safe(n.waits)}${n.holds.length ? ', holds ' + held(n) : ''}` : `holds ${held(n)} ${dur(now - ms(n.heldSince))}`;
    out.push(`${isRoot ? '' : pre + (last ? '└─ ' : '├─ ')}${who(n.label)} ${own}${n.behind ? ` · ${n.behind} behind` : ''}`);
    n.children.forEach((k, i) => walk(k, isRoot ? '' : pre + (last ? '   ' : '│  '), i === n.children.length - 1));
  };
  for (const c of view.deadlocks || []) {
    out.push(`DEADLOCK of ${c.actors.length}, for ${dur(now - ms(c.since))}`);
    c.actors.forEach((n, i) => walk(n, '', i === c.actors.length - 1));
    out.push('');
  }
  for (const r of view.roots) { walk(r, '', true, true); out.push(''); }
  return out.join('\n').replace(/\u00a0/g, ' ');
}
