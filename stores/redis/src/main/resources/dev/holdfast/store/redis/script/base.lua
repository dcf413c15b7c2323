-- Carries out the commands of one bucket, each as one atomic step, and answers them in their order.
--
-- KEYS   what the bucket consists of; every name, session and claim is a field or member of one of these:
--   M string  layout version, newest token, newest number, and a time before which nothing ends
--   S hash    session id -> state, epoch, ttl, end, client, label; '!' and a session id -> how far its claims were ended
--   D zset    what ends by itself, by the time in microseconds: 's' and a session id, 'l' and a claim, 'o' and a latch
--   R hash    name -> what is in use there, with one of its grants
--   K hash    claim -> its record, but for the grants that stand in R
--   O zset    in the order of bytes: name, then 'g' or 'w' and a number for each claim in K, or 'i' and the id of a count-down
--   C zset    in the order of bytes: all claims, by session
--   L hash    name -> generation and count of a latch
-- ARGV   the prefix of the channels on which clients are told, then the commands: a letter and its arguments
--
-- A claim is written  session|length of the name|name|claim . Numbers that may exceed what a double holds exactly
-- (claims, epochs, generations, counts, sequence numbers) are decimals of 19 digits, and only compared as text. All
-- others stay below 2^53; they are never turned to text by the language, which would round them, but by '%.0f'. Names
-- and labels may hold any byte, also zero, at which '%s' would stop: they are only put together.
-- Functions are made anew in each call, which takes longer than to lock and unlock if there are many. So there are three
-- layers: what the shortest cases need, is made at once; what contention needs, by the function 'machine' when it is
-- needed; and the rest, inside of that, by the function 'rest'.
local M, S, D, R, K, O, C, L = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local call, match, format, floor = redis.call, string.match, string.format, math.floor
local MAX_TOKEN = 9007199254740991
-- Claims that one call ends of those whose time has come: bounds the time for which it keeps the server.
local SWEEP = 200
local NONE = '0000000000000000000'

local time = call('TIME')
local now = time[1] * 1000000 + time[2]

-- The error that the server is to answer with if a key is not what it should be.
local function foreign(key, found)
  return match(found.err, 'WRONGTYPE') and redis.error_reply('HFCORRUPT ' .. key) or found
end

local meta = redis.pcall('GET', M)
local last, number, soonest, changed = 0, 0, 0, false
if type(meta) == 'table' then
  return foreign(M, meta)
elseif meta then
  last, number, soonest = match(meta, '^1 (%d+) (%d+) (%d+)$')
  if not last then
    return redis.error_reply('HFCORRUPT ' .. M)
  end
  last, number, soonest = tonumber(last), tonumber(number), tonumber(soonest)
end

local sessions = {}
local function session(id)
  local s = sessions[id]
  if s == nil then
    local v = call('HGET', S, id)
    if v then
      local state, epoch, ttl, ends, client, label = match(v, '^([LX]) (%d+) (%d+) (%d+) (%w+) (.*)$')
      if not state then
        error('HFCORRUPT ' .. S, 0)
      end
      s = { id = id, live = state == 'L', epoch = epoch, ttl = tonumber(ttl), ends = tonumber(ends), client = client, label = label }
    else
      s = false
    end
    sessions[id] = s
  end
  return s
end

-- The smallest token that the clock allows at a time.
local function clocked(micros)
  local rest = micros % 125
  return (micros - rest) / 125 * 128 + floor(rest * 128 / 125)
end

-- The next tokens; nothing if there are no more.
local function reserve(above, want)
  local from = last
  if above > from then
    from = above
  end
  local first = clocked(now)
  if from >= MAX_TOKEN or first > MAX_TOKEN then
    return nil
  end
  if from >= first then
    first = from + 1
  end
  local ends
  if from > clocked(now + 1000000) then
    ends = first + (want < 256 and want or 256) - 1
  else
    ends = first + want - 1
    local most = clocked(now + 16000)
    if ends > most then
      ends = most
    end
  end
  if ends < first then
    ends = first
  end
  if ends > MAX_TOKEN then
    ends = MAX_TOKEN
  end
  last, changed = ends, true
  return first, ends
end

-- Rises with each call, also when the counter was lost.
local function nextnumber()
  number = number < now and now or number + 1
  changed = true
  return number
end

-- Why nothing new may come of a session; nothing if it may.
local function refusal(id, epoch)
  local s = session(id)
  if not s or not s.live or s.ends <= now then
    return { 'X' }
  end
  if epoch < s.epoch then
    return { 'S' }
  end
end

local due
if soonest <= now then
  due = redis.pcall('ZRANGEBYSCORE', D, '-inf', now, 'LIMIT', 0, SWEEP)
  if due.err then
    return foreign(D, due)
  end
end
-- Sessions that this call did not end wholly, and whether even more may be due: then each step looks for itself at the
-- resource that it is about.
local ending, crowded = nil, due and #due == SWEEP
