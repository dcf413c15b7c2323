
-- Records under its session that a claim exists, so that it can be found from there: in a slot, or, if that is taken or the lease
-- is not the session's, in the index.
local function register(c)
  if c.binding == 's' then
    local s, slot = session(c.sid), slotof(c)
    for _, bound in ipairs(SLOTS) do
      if tonumber(sub(slot, -3)) > s.slots then
        s.slots = bound
        s.grown = true
      end
    end
    if s.grown then
      s.grown = nil
      writesession(s)
    end
    if put('HSETNX', state, slot, c.name) == 1 then
      c.at = 's'
      return
    end
  end
  put('ZADD', index, 0, '@' .. keyof(c))
  c.at = 'c'
end

local function unregister(c)
  if c.at == 's' then
    put('HDEL', state, slotof(c))
  else
    put('ZREM', index, '@' .. keyof(c))
  end
end

local function record(name, sid, claim)
  local v = call('HGET', state, '\255k' .. keyof({ name = name, sid = sid, claim = claim }))
  if not v then
    return nil
  end
  local status, seq, binding, weight, length, want, first, last, picked, ends, extension = match(v, RECORD)
  if not status then
    corrupt(state)
  end
  return { name = name, sid = sid, claim = claim, at = 'c', granted = status == 'g', seq = tonumber(seq), weight = tonumber(weight), binding = binding,
    length = tonumber(length), want = tonumber(want), first = tonumber(first), last = tonumber(last), picked = picked == '1',
    ends = tonumber(ends), extension = extension }
end

local function find(res, sid, claim)
  if not res then
    return nil
  end
  local c = res.inline
  if c and c.sid == sid and c.claim == claim then
    return c
  end
  for _, w in ipairs(res.near) do
    if w.sid == sid and w.claim == claim then
      return w
    end
  end
  if res.distant == 0 and res.grants == (c and 1 or 0) then
    return nil
  end
  return record(res.name, sid, claim)
end

local function place(res, c)
  return res.p .. format('%s%016.0f|%s|%s', c.granted and 'g' or 'w', c.seq, c.sid, c.claim)
end

-- Writes a claim that has a separate field.
local function keep(c)
  if c.at ~= 'c' then
    if c.at then
      unregister(c)
    end
    put('ZADD', index, 0, '@' .. keyof(c))
    c.at = 'c'
  end
  put('HSET', state, '\255k' .. keyof(c), format('%s %.0f %s %d %.0f %d %.0f %.0f %d %.0f %s', c.granted and 'g' or 'w', c.seq, c.binding, c.weight,
    c.length, c.want, c.first, c.last, c.picked and 1 or 0, c.ends, c.extension))
end

-- Writes a changed grant; the inline one is written with its resource.
local function update(res, c)
  if res.inline ~= c then
    keep(c)
  else
    write(res)
  end
end

-- The first members of the index for the claims at a name, between two letters.
local function listed(res, letter, after, most)
  return call('ZRANGEBYLEX', index, '[' .. res.p .. letter, '(' .. res.p .. after, 'LIMIT', 0, most)
end

local function claimat(res, member)
  local sid, claim = match(sub(member, #res.p + 1), '^[gw]%d+|([^|]+)|(%d+)$')
  return sid and record(res.name, sid, claim)
end

-- The index lacks places that the state counts, so it is rebuilt from the state. Returns whether that was done just now: then the
-- missing claims are missing in the state too, and lost.
local function isrepaired()
  local progress = call('HGET', state, '\255#')
  if lost or progress and sub(progress, 1, 1) ~= 'e' then
    return false
  elseif progress and sub(progress, 2) + REPAIRED > now then
    return true
  end
  put('HSET', state, '\255#', 'h0')
  put('ZREM', deadlines, '!')
  lost = true
end

-- The claims of those members: at most this many of the expected ones.
local function placed(res, letter, after, most, expected)
  local all = {}
  if expected > 0 then
    for _, member in ipairs(listed(res, letter, after, most)) do
      all[#all + 1] = claimat(res, member)
    end
    if #all < expected and (most < 0 or #all < most) and isrepaired() and not all[1] then
      if letter == 'w' then
        res.queue, res.distant = res.queue - expected, 0
      else
        res.grants, res.heldweight = res.grants - expected, res.inline and res.inline.weight or 0
      end
    end
  end
  return all
end

-- The grants with separate fields.
local function others(res, most)
  return placed(res, 'g', 'h', most, res.grants - (res.inline and 1 or 0))
end

-- The waiters in queue order.
local function waiters(res, most)
  local all = {}
  for i, c in ipairs(res.near) do
    if i > most and most >= 0 then
      return all
    end
    all[i] = c
  end
  if most < 0 or #all < most then
    for _, c in ipairs(placed(res, 'w', 'x', most < 0 and most or most - #all, res.distant)) do
      all[#all + 1] = c
    end
  end
  return all
end

-- The head of the queue; nothing if its place is lost and not yet repaired.
local function head(res)
  return waiters(res, 1)[1]
end

-- A waiting claim has the time in a number that is not used while it waits, so earlier versions of the script ignore it. A near one
-- with its own lease has none to spare.
local function enqueue(res, c)
  c.granted, res.queue = false, res.queue + 1
  local isbysession = c.binding == 's'
  if isbysession then
    c.length = now
  else
    c.ends = now
  end
  if isbysession and res.distant == 0 and #res.near * 64 < ROOM then
    c.near = true
    register(c)
    res.near[#res.near + 1] = c
  else
    c.seq, res.distant = nextnumber(), res.distant + 1
    keep(c)
    put('ZADD', index, 0, place(res, c))
  end
end

-- Grants a claim that is not, or no longer, in the queue; false if there are no tokens left.
local function grant(res, c)
  local first, ends = reserve(0, c.want)
  if not first then
    return false
  end
  c.granted, c.seq, c.first, c.last, c.ends = true, first, first, ends, 0
  if c.binding == 's' then
    c.length = 0
  end
  res.newest = ends
  res.grants, res.heldweight = res.grants + 1, res.heldweight + c.weight
  if not res.inline and not res.latch then
    if not c.at then
      register(c)
    end
    res.inline = c
  else
    keep(c)
    put('ZADD', index, 0, place(res, c))
  end
  return true
end

-- Removes a claim from its resource, but not from the claims of its session.
local function unlist(res, c)
  if c.granted then
    res.grants, res.heldweight = res.grants - 1, res.heldweight - c.weight
  else
    res.queue = res.queue - 1
  end
  if res.inline == c then
    res.inline = nil
  elseif c.near then
    c.near = nil
    for i, w in ipairs(res.near) do
      if w == c then
        table.remove(res.near, i)
        break
      end
    end
  else
    res.distant = res.distant - (c.granted and 0 or 1)
    put('HDEL', state, '\255k' .. keyof(c))
    put('ZREM', index, place(res, c))
  end
end

-- Whether an ended session, whose sweep is complete, still has claims: those are detached and have no slots.
local function isused(sid)
  return call('ZRANGEBYLEX', index, '[@' .. sid .. '|', '(@' .. sid .. '}', 'LIMIT', 0, 1)[1] or call('ZSCORE', deadlines, 's' .. sid)
end

local function drop(res, c)
  unregister(c)
  if c.granted then
    try('HDEL', notes, keyof(c))
  end
  if c.binding ~= 's' and c.picked then
    put('ZREM', deadlines, 'l' .. keyof(c))
  end
  unlist(res, c)
  local s = session(c.sid)
  -- The record of an ended session is deleted with its last claim.
  if s and not s.live and not s.ending and not isused(c.sid) then
    put('HDEL', state, '\255' .. c.sid)
    sessions[c.sid] = false
  end
end

local function pickup(res, c)
  if c.binding ~= 's' and not c.picked then
    c.picked, c.ends = true, now + c.length
    endat(c.ends, 'l' .. keyof(c))
    update(res, c)
  end
end

local function left(c)
  local s = session(c.sid)
  local bysession = s and s.live and s.ends - now or 1
  local ends = bysession
  if c.binding ~= 's' and c.picked then
    ends = c.ends - now
    if c.binding == 'b' and bysession < ends then
      ends = bysession
    end
  end
  return ends < 1 and 1 or ends
end

local function granted(res, c)
  local remaining = -1
  if c.binding ~= 's' then
    remaining = c.length
    if c.picked then
      remaining = c.ends - now
      if remaining < 1 then
        remaining = 1
      end
    end
  end
  return format('G %.0f %.0f %.0f %d', c.first, c.last, remaining, res.queue > 0 and 1 or 0)
end

local function queued(res, c)
  local s = session(c.sid)
  local recheck = s and math.floor(s.ttl / 3) or 1
  local function atmost(micros)
    if micros < recheck then
      recheck = micros
    end
  end
  if res.inline then
    atmost(left(res.inline))
  end
  local more = res.grants - (res.inline and 1 or 0)
  if more > FEW then
    -- Too many to check each one: nothing in the bucket ends before this.
    local first = call('ZRANGEBYSCORE', deadlines, format('(%.0f', now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    atmost(tonumber(first[2] or now) - now)
  else
    for _, other in ipairs(others(res, FEW)) do
      atmost(left(other))
    end
  end
  local front = head(res)
  if not front then
    atmost(RETRY)
  elseif front.sid ~= c.sid or front.claim ~= c.claim then
    local other = session(front.sid)
    atmost(other and other.live and other.ends - now or 1)
  end
  return format('Q %.0f', recheck < 1000 and 1000 or recheck)
end

-- The state of a claim for its claimant; reporting a grant picks it up.
local function present(res, c)
  if not c.granted then
    return queued(res, c)
  end
  pickup(res, c)
  return granted(res, c)
end

local function fits(res, weight)
  if res.latch then
    return not counting(res)
  end
  return res.heldweight + weight <= res.capacity
end

-- Whether it survives the end of its session.
local function outlives(c)
  return c.binding == 'd' and c.granted and c.picked
end

-- Whether a claim has ended, recorded or not. A session that is skipped as expired is marked as ended for good.
local function isdead(c)
  if outlives(c) then
    return c.ends <= now
  end
  local s = session(c.sid)
  if s and s.live and s.ends <= now then
    mark(s)
  end
  return hasended(s) or (c.granted and c.binding ~= 's' and c.picked and c.ends <= now)
end
