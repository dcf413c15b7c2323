-- Claims

local function record(sid, claim, key)
  local v = call('HGET', K, key)
  if not v then
    return nil
  end
  local state, seq, binding, weight, length, want, first, block, picked, ends, extra = match(v, RECORD)
  if not state then
    error('HFCORRUPT ' .. K, 0)
  end
  return { sid = sid, claim = claim, key = key, granted = state == 'g', seq = tonumber(seq), weight = tonumber(weight), binding = binding,
    length = tonumber(length), want = tonumber(want), first = tonumber(first), last = tonumber(block), picked = picked == '1',
    ends = tonumber(ends), extension = extra }
end

local function find(res, sid, claim)
  if not res then
    return nil
  end
  local c = res.inline
  if c and c.sid == sid and c.claim == claim then
    return c
  end
  if res.queue == 0 and res.grants == (c and 1 or 0) then
    return nil
  end
  return record(sid, claim, claimkey(sid, res.name, claim))
end

local function place(res, c)
  return res.p .. format('%s%016.0f|%s|%s', c.granted and 'g' or 'w', c.seq, c.sid, c.claim)
end

-- Writes the record of a claim that does not stand in R.
local function keep(c)
  put('HSET', K, c.key, format('%s %.0f %s %d %.0f %d %.0f %.0f %d %.0f %s', c.granted and 'g' or 'w', c.seq, c.binding, c.weight, c.length,
    c.want, c.first, c.last, c.picked and 1 or 0, c.ends, c.extension))
end

-- Writes what has changed of a claim that is there; one that stands in R is written with its resource.
local function update(res, c)
  if res.inline ~= c then
    keep(c)
  else
    write(res)
  end
end

-- The claim keys that stand in O, from a letter on: at most so many.
local function listed(res, letter, after, most)
  return call('ZRANGEBYLEX', O, '[' .. res.p .. letter, '(' .. res.p .. after, 'LIMIT', 0, most)
end

local function claimat(res, member)
  local sid, claim = match(string.sub(member, #res.p + 1), '^[gw]%d+|([^|]+)|(%d+)$')
  local c = sid and record(sid, claim, claimkey(sid, res.name, claim))
  if not c then
    error('HFCORRUPT ' .. O, 0)
  end
  return c
end

local function head(res)
  local members = listed(res, 'w', 'x', 1)
  if not members[1] then
    error('HFCORRUPT ' .. O, 0)
  end
  return claimat(res, members[1])
end

local function enqueue(res, c)
  c.granted, c.seq = false, nextnumber()
  res.queue = res.queue + 1
  put('ZADD', C, 0, c.key)
  put('ZADD', O, 0, place(res, c))
  keep(c)
end

-- Makes a grant of a claim that is not in the queue, or not any more; false if there are no tokens.
local function grant(res, c)
  local first, ends = reserve(0, c.want)
  if not first then
    return false
  end
  c.granted, c.seq, c.first, c.last = true, nextnumber(), first, ends
  res.newest = ends
  res.grants, res.held = res.grants + 1, res.held + c.weight
  if not res.inline and not res.latch then
    res.inline = c
  else
    put('ZADD', O, 0, place(res, c))
    keep(c)
  end
  return true
end

local function unlist(res, c)
  if res.inline == c then
    res.inline = nil
  else
    put('HDEL', K, c.key)
    put('ZREM', O, place(res, c))
  end
  if c.granted then
    res.grants, res.held = res.grants - 1, res.held - c.weight
  else
    res.queue = res.queue - 1
  end
end

local function drop(res, c)
  put('ZREM', C, c.key)
  if c.binding ~= 's' and c.picked then
    put('ZREM', D, 'l' .. c.key)
  end
  unlist(res, c)
  local s = session(c.sid)
  if s and not s.live and not s.ending then
    -- What is left of a session that has ended goes with its last claim.
    if not call('ZRANGEBYLEX', C, '[' .. c.sid .. '|', '(' .. c.sid .. '}', 'LIMIT', 0, 1)[1] and not call('ZSCORE', D, 's' .. c.sid) then
      put('HDEL', S, c.sid)
      sessions[c.sid] = false
    end
  end
end

local function pickup(res, c)
  if c.binding ~= 's' and not c.picked then
    c.picked, c.ends = true, now + c.length
    endat(c.ends, 'l' .. c.key)
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
  return { 'G', c.first, c.last, remaining, res.queue > 0 and 1 or 0 }
end

local function queued(res, c)
  local s = session(c.sid)
  local recheck = s and floor(s.ttl / 3) or 1
  local function atmost(micros)
    if micros < recheck then
      recheck = micros
    end
  end
  if res.inline then
    atmost(left(res.inline))
  end
  local others = res.grants - (res.inline and 1 or 0)
  if others > FEW then
    -- Too many to look at each: nothing at all ends before that.
    local first = call('ZRANGEBYSCORE', D, format('(%.0f', now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    atmost(tonumber(first[2] or now) - now)
  elseif others > 0 then
    for _, member in ipairs(listed(res, 'g', 'h', FEW)) do
      atmost(left(claimat(res, member)))
    end
  end
  local front = listed(res, 'w', 'x', 1)[1]
  local sid, claim = match(string.sub(front or '', #res.p + 1), '^w%d+|([^|]+)|(%d+)$')
  if sid and (sid ~= c.sid or claim ~= c.claim) then
    local other = session(sid)
    atmost(other and other.live and other.ends - now or 1)
  end
  return { 'Q', recheck < 1000 and 1000 or recheck }
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
