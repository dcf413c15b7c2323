-- Claims

-- Notes that a claim stands at its name, so that it is found by its session: in a slot, or where that is taken, or the
-- claim not its session's alone, in the order of the claims.
local function index(c)
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
    if put('HSETNX', H, slot, c.name) == 1 then
      c.at = 's'
      return
    end
  end
  put('ZADD', O, 0, '@' .. keyof(c))
  c.at = 'c'
end

local function unindex(c)
  if c.at == 's' then
    put('HDEL', H, slotof(c))
  else
    put('ZREM', O, '@' .. keyof(c))
  end
end

local function record(name, sid, claim)
  local v = call('HGET', H, '\255k' .. keyof({ name = name, sid = sid, claim = claim }))
  if not v then
    return nil
  end
  local state, seq, binding, weight, length, want, first, last, picked, ends, extension = match(v, RECORD)
  if not state then
    corrupt(H)
  end
  return { name = name, sid = sid, claim = claim, at = 'c', granted = state == 'g', seq = tonumber(seq), weight = tonumber(weight), binding = binding,
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

-- Writes the record of a claim that has a field of its own.
local function keep(c)
  if c.at ~= 'c' then
    if c.at then
      unindex(c)
    end
    put('ZADD', O, 0, '@' .. keyof(c))
    c.at = 'c'
  end
  put('HSET', H, '\255k' .. keyof(c), format('%s %.0f %s %d %.0f %d %.0f %.0f %d %.0f %s', c.granted and 'g' or 'w', c.seq, c.binding, c.weight,
    c.length, c.want, c.first, c.last, c.picked and 1 or 0, c.ends, c.extension))
end

-- Writes what has changed of a grant that is there; one that is part of what is in use is written with that.
local function update(res, c)
  if res.inline ~= c then
    keep(c)
  else
    write(res)
  end
end

-- The members of O for claims at a name, from a letter on: at most so many.
local function listed(res, letter, after, most)
  return call('ZRANGEBYLEX', O, '[' .. res.p .. letter, '(' .. res.p .. after, 'LIMIT', 0, most)
end

local function claimat(res, member)
  local sid, claim = match(sub(member, #res.p + 1), '^[gw]%d+|([^|]+)|(%d+)$')
  return sid and record(res.name, sid, claim)
end

-- O lacks places that H counts: what is in O is made again from H. Whether that was done a short while ago: then what is
-- missing is missing in H too, and lost.
local function isrepaired()
  local progress = call('HGET', H, '\255#')
  if lost or progress and sub(progress, 1, 1) ~= 'e' then
    return false
  elseif progress and sub(progress, 2) + REPAIRED > now then
    return true
  end
  put('HSET', H, '\255#', 'h0')
  put('ZREM', D, '!')
  lost = true
end

-- The claims of the members of O from a letter on: at most so many of as many as there should be.
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
        res.grants, res.held = res.grants - expected, res.inline and res.inline.weight or 0
      end
    end
  end
  return all
end

-- The grants that have fields of their own.
local function others(res, most)
  return placed(res, 'g', 'h', most, res.grants - (res.inline and 1 or 0))
end

-- Who waits, from the first on.
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

-- The first of those who wait; nothing if its place was lost, and is not repaired yet.
local function head(res)
  return waiters(res, 1)[1]
end

local function enqueue(res, c)
  c.granted, res.queue = false, res.queue + 1
  if res.distant == 0 and #res.near * 64 < ROOM then
    c.near = true
    index(c)
    res.near[#res.near + 1] = c
  else
    c.seq, res.distant = nextnumber(), res.distant + 1
    keep(c)
    put('ZADD', O, 0, place(res, c))
  end
end

-- Makes a grant of a claim that is not in the queue, or not any more; false if there are no tokens.
local function grant(res, c)
  local first, ends = reserve(0, c.want)
  if not first then
    return false
  end
  c.granted, c.seq, c.first, c.last = true, first, first, ends
  res.newest = ends
  res.grants, res.held = res.grants + 1, res.held + c.weight
  if not res.inline and not res.latch then
    if not c.at then
      index(c)
    end
    res.inline = c
  else
    keep(c)
    put('ZADD', O, 0, place(res, c))
  end
  return true
end

-- Takes a claim out of where it stands, but leaves it noted.
local function unlist(res, c)
  if c.granted then
    res.grants, res.held = res.grants - 1, res.held - c.weight
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
    put('HDEL', H, '\255k' .. keyof(c))
    put('ZREM', O, place(res, c))
  end
end

-- Whether a session that has ended, and is not just being ended, has claims left: such have no slots.
local function isused(sid)
  return call('ZRANGEBYLEX', O, '[@' .. sid .. '|', '(@' .. sid .. '}', 'LIMIT', 0, 1)[1] or call('ZSCORE', D, 's' .. sid)
end

local function drop(res, c)
  unindex(c)
  if c.binding ~= 's' and c.picked then
    put('ZREM', D, 'l' .. keyof(c))
  end
  unlist(res, c)
  local s = session(c.sid)
  -- What is left of a session that has ended goes with its last claim.
  if s and not s.live and not s.ending and not isused(c.sid) then
    put('HDEL', H, '\255' .. c.sid)
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
    -- Too many to look at each: nothing at all ends before that.
    local first = call('ZRANGEBYSCORE', D, format('(%.0f', now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
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

-- The state of a claim for its claimant, who picks it up with this if it is a grant.
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
  return res.held + weight <= res.capacity
end

-- Whether the end of its session leaves it alone.
local function outlives(c)
  return c.binding == 'd' and c.granted and c.picked
end

-- Whether a claim has ended, told to the store or not. A session that is passed over is over from then on.
local function isdead(c)
  if outlives(c) then
    return c.ends <= now
  end
  local s = session(c.sid)
  if s and s.live and s.ends <= now then
    mark(s)
  end
  return over(s) or (c.granted and c.binding ~= 's' and c.picked and c.ends <= now)
end
