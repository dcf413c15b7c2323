-- Executes the commands of one bucket, each as one atomic step, and answers them in order.
--
-- KEYS   the bucket
--   state      hash   a name -> the claims and the state of that resource; and fields that start with the byte 255, which no UTF-8
--                     name contains:
--                       255                          -> layout version, newest token, newest number, time before which nothing ends
--                       255, session                 -> the session
--                       255, 'c', session, ' ', slot -> the name of the session's claim in that slot
--                       255, 'k', claim              -> a claim that is not part of its name's field
--                       255, 'l', name               -> generation and count of a latch
--                       255, '!', session            -> how far the claims of an ended session were swept
--                       255, '#'                     -> the progress of a repair of the other keys, or when it ended
--   deadlines  zset   what expires, by the time in microseconds: 's' and a session, 'l' and a claim, 'o' and a latch, 'a' and a name
--                     whose queue still has claims to grant
--   index      zset   in byte order: a name with its length, then 'g' or 'w' and a number for each claim that has a separate field,
--                     or 'i' and the id of a count-down; and '@' and the claim, for each claim that has no slot
--   deadlines and index have the member '!' while deadlines has any other: if it is missing, the key was lost.
-- ARGV   how many of the last digits of a claim's number are its slot, and the prefix of the clients' channels; then the commands:
--        a letter (see ScriptCall.Operation) and its arguments
--
-- A claim is written  session|length of the name|name|claim . Numbers that may exceed what a double holds exactly (claims, epochs,
-- generations, counts, sequence numbers) are only compared as text; all but the claims are decimals of 19 digits. All others stay
-- below 2^53, and are only formatted by '%.0f', because Lua's own conversion would round them. Names and labels may contain any
-- byte, also zero, at which '%s' would stop, so they are only concatenated.
--
-- Apart from calls to the server, the costly things here are functions, which are created in each run of the script, and their
-- upvalues; tables in answers; patterns with captures; and each key and argument. So there are layers, each created on demand. This
-- one serves uncontended locks and has no functions. Next comes the queue of a mutex, the part 'mutexqueue'; inside it all other
-- contention, 'dispatch'; and inside that the rest. A layer that leaves a command to the next one has written nothing of it.
local state, deadlines, index = KEYS[1], KEYS[2], KEYS[3]
local args, call, try, sub, format = ARGV, redis.call, redis.pcall, string.sub, string.format
-- The operations that need no function, as ScriptCall names them. The layers name theirs.
local ACQUIRE_MUTEX, RELEASE = 'M', 'R'
local META = '\255'
local LAYOUT = 'holdfast 1'
local COUNTERS = '<c10ddd'
-- Longer than 64 bytes, so that the server never stores the hash as a list, which it would search linearly.
local SESSION = '<c1c19ddc16dxxxxx'
local MAX_TOKEN = 9007199254740991
-- How many expired claims one call ends: bounds the time for which it blocks the server.
local SWEEP_LIMIT = 200
-- The size in bytes of the field of a name at which further waiters get separate fields.
local ROOM = 1500
local NONE = '0000000000000000000'

local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local part = now % 125
-- The lowest token for the present time.
local clock = (now - part) / 125 * 128 + math.floor(part * 128 / 125)

local last, number, soonest, changed = 0, 0, 0, false
local meta = try('HGET', state, META)
if meta then
  if meta.err then
    return string.match(meta.err, 'WRONGTYPE') and redis.error_reply('HFCORRUPT ' .. state) or meta
  end
  local layout
  if #meta == 34 then
    layout, last, number, soonest = struct.unpack(COUNTERS, meta)
  end
  if layout ~= LAYOUT then
    return redis.error_reply('HFCORRUPT ' .. state)
  end
end

-- The members that are due; and whether more may be due than this call ends. In that case each step checks the resource that it
-- is about, within the bounds below.
local due, crowded
-- Whether deadlines and index have their marks; and whether one of them lacks what the state mentions.
local marked, lost
local empty = soonest == MAX_TOKEN
if soonest <= now then
  due = try('ZRANGEBYSCORE', deadlines, '-inf', now, 'LIMIT', 0, SWEEP_LIMIT)
  if due.err then
    return string.match(due.err, 'WRONGTYPE') and redis.error_reply('HFCORRUPT ' .. deadlines) or due
  end
  crowded = #due == SWEEP_LIMIT
  marked = call('ZSCORE', deadlines, '!') and try('ZSCORE', index, '!')
  lost = not marked
end

-- The server's error once it has refused memory to a step of this call.
local full

-- The session of the last command, if it lives: its field, its epoch and its highest slot.
local owner, epoch, highest
local run

-- The reply is a table if an answer is one, or if more is due; otherwise it is lines of text.
local answers, plain, i, n = { 0 }, true, 2, #args
while i <= n do
  local op, name, answer = args[i], args[i + 1], nil

  if lost or due and due[1] then
    -- What is due is handled first.
  elseif op == RELEASE and not crowded then
    -- A release without waiters.
    local v = call('HGET', state, name)
    if not v then
      answer, i = 'A', i + 4
    elseif string.find(v, args[i + 2], 1, true) == 1 then
      call('HDEL', state, name, args[i + 3])
      answer, i = 'R', i + 4
    end
  elseif op == ACQUIRE_MUTEX and not full then
    -- One token of a free mutex.
    if args[i + 2] ~= owner then
      owner = nil
      local v = call('HGET', state, args[i + 2])
      if v and #v > 64 then
        local status, known, _, ends, _, slots = struct.unpack(SESSION, v)
        if status == 'L' and ends > now then
          owner, epoch, highest = args[i + 2], known, slots
        end
      end
    end
    local slot, asked = args[i + 4], args[i + 5]
    local token = last < clock and clock or last + 1
    if owner and (epoch == asked or epoch < asked) and sub(slot, -3) + 0 <= highest and token <= MAX_TOKEN then
      local text = format('%.0f', token)
      local made = try('HSETNX', state, name, args[i + 3] .. 'mf1 1 ' .. text)
      if made == 1 then
        last, changed = token, true
        if call('HSETNX', state, slot, name) == 0 then
          -- The slot is taken by another claim of the session.
          local sid, claim = string.match(args[i + 3], '^S (%S+) (%d+) $')
          call('HSET', state, name, 's ' .. sid .. ' ' .. claim .. ' mf1 1 ' .. text)
          call('ZADD', index, 0, '@' .. sid .. '|' .. #name .. '|' .. name .. '|' .. claim)
        end
        answer, i = 'G ' .. text, i + 6
      elseif made ~= 0 and string.find(made.err, 'OOM ', 1, true) then
        -- The claim may exist already.
        full = made.err
      elseif made ~= 0 then
        answer, i = { 'E', made.err, 0 }, i + 6
      end
    end
  end

  if not answer then
    if not run then
      run = (function()
-- part: tokens mutexqueue contended
      end)()
      if due and (lost or due[1]) then
        run(nil, due)
        due = {}
      end
    end
    answer, i = run(i)
    owner = nil
  end
  answers[#answers + 1] = answer
  plain = plain and type(answer) == 'string'
end

-- The marks are added with the first deadline and removed after the last. An unused bucket stays unchanged.
if due then
  local first = call('ZRANGEBYSCORE', deadlines, '-inf', '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if first[1] == '!' and not lost then
    call('ZREM', deadlines, '!')
    try('ZREM', index, '!')
    call('HDEL', state, '\255#')
    first = {}
  end
  soonest, changed = tonumber(first[2] or MAX_TOKEN), changed or meta
  empty = not marked and first[1]
end
if lost then
  soonest, changed = 0, changed or meta
elseif empty and soonest < MAX_TOKEN then
  try('ZADD', deadlines, '+inf', '!')
  try('ZADD', index, 0, '!')
end
-- Written in any case, so that reserved tokens are never issued again.
if changed then
  local done = try('HSET', state, META, struct.pack(COUNTERS, LAYOUT, last, number, soonest))
  -- If the server can't write, it already refused the first write of this call. So nothing was written and no reserved token was
  -- used, and the answers hold. A replica must not answer at all.
  if type(done) == 'table' and not (string.find(done.err, 'OOM ', 1, true) or string.find(done.err, 'MISCONF', 1, true)
      or string.find(done.err, 'NOREPLICAS', 1, true)) then
    return done
  end
end
if crowded or lost then
  answers[1] = 1
elseif plain then
  return answers[3] and table.concat(answers, '\n', 2) or answers[2]
end
return answers
