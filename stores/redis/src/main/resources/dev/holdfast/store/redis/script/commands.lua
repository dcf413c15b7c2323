-- Carries out the commands of one bucket, each as one atomic step, and answers them in their order.
--
-- KEYS   what the bucket consists of
--   H hash    a name -> what is in use there; and under fields that are no names, since they begin with the byte 255, which
--             UTF-8 does not have:
--               255                          -> layout version, newest token, newest number, a time before which nothing ends
--               255, session                 -> the session
--               255, 'c', session, ' ', slot -> the name at which a claim stands that is part of what is in use there
--               255, 'k', claim              -> a claim that is not
--               255, 'l', name               -> generation and count of a latch
--               255, '!', session            -> how far the claims of a session were ended
--               255, '#'                     -> how far a repair of the other keys has come, or when it ended
--   D zset    what ends by itself, by the time in microseconds: 's' and a session, 'l' and a claim, 'o' and a latch,
--             'a' and a name at which claims were left to be admitted
--   O zset    in the order of bytes: a name after its length, then 'g' or 'w' and a number for each claim that has a field of
--             its own, or 'i' and the id of a count-down; and '@' and the claim, for each claim that has no slot
--   D and O have the member '!' for as long as D has anything else: where it is missing, the key was lost.
-- ARGV   how many of the last digits of a claim's number are its slot, and the prefix of the channels on which clients are
--        told; then the commands: a letter and its arguments
--
-- A claim is written  session|length of the name|name|claim . Numbers that may exceed what a double holds exactly
-- (claims, epochs, generations, counts, sequence numbers) are only compared as text, but for the claims as decimals of 19
-- digits. All others stay below 2^53; they are never turned to text by the language, which would round them, but by
-- '%.0f'. Names and labels may hold any byte, also zero, at which '%s' would stop: they are only put together.
--
-- What takes time here is, beside the calls to the server: functions, which are made anew each time that the script is
-- run, and what they share with what is around them; tables in answers; patterns with captures; and each key and argument.
-- So there are layers, each of which is made when it is needed. Here is what nobody else wants: no functions at all.
-- Then comes the queue of a mutex, which is the part 'mutexqueue'; inside of that all other contention, 'dispatch';
-- and inside of that the rest. A layer that leaves something to the next one has written nothing of it.
local H, D, O = KEYS[1], KEYS[2], KEYS[3]
local args, call, try, sub, format = ARGV, redis.call, redis.pcall, string.sub, string.format
local META = '\255'
local LAYOUT = 'holdfast 1'
local COUNTERS = '<c10ddd'
-- Longer than 64 bytes, so that the server never keeps the hash as a list to be gone through.
local SESSION = '<c1c19ddc16dxxxxx'
local MAX_TOKEN = 9007199254740991
-- Claims that one call ends of those whose time has come: bounds the time for which it keeps the server.
local SWEEP = 200
-- Bytes that what is in use under a name may have, before who comes to wait there gets a field of its own.
local ROOM = 1500
local NONE = '0000000000000000000'

local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local part = now % 125
-- The smallest token that the clock allows.
local clock = (now - part) / 125 * 128 + math.floor(part * 128 / 125)

local last, number, soonest, changed = 0, 0, 0, false
local meta = try('HGET', H, META)
if meta then
  if meta.err then
    return string.match(meta.err, 'WRONGTYPE') and redis.error_reply('HFCORRUPT ' .. H) or meta
  end
  local layout
  if #meta == 34 then
    layout, last, number, soonest = struct.unpack(COUNTERS, meta)
  end
  if layout ~= LAYOUT then
    return redis.error_reply('HFCORRUPT ' .. H)
  end
end

-- What is due; and whether more is due than this call ends: then each step looks for itself, as far as the bounds allow, at
-- the resource that it is about.
local due, crowded
-- Whether D and O have their marks; and whether D or O lacks what H speaks of.
local marked, lost
local empty = soonest == MAX_TOKEN
if soonest <= now then
  due = try('ZRANGEBYSCORE', D, '-inf', now, 'LIMIT', 0, SWEEP)
  if due.err then
    return string.match(due.err, 'WRONGTYPE') and redis.error_reply('HFCORRUPT ' .. D) or due
  end
  crowded = #due == SWEEP
  marked = call('ZSCORE', D, '!') and try('ZSCORE', O, '!')
  lost = not marked
end

-- Why the server takes no more memory, once a step of this call has met that.
local full

-- The session that was seen last, if it lives: its epoch, and its greatest slot.
local owner, epoch, slots
local run

-- Answers that are tables, or that more is due, are told in a table.
local answers, plain, i, n = { 0 }, true, 2, #args
while i <= n do
  local op, name, answer = args[i], args[i + 1], nil

  if lost or due and due[1] then
    -- What is due comes first.
  elseif op == 'R' and not crowded then
    -- The release of a grant that nobody waits for.
    local v = call('HGET', H, name)
    if not v then
      answer, i = 'A', i + 4
    elseif string.find(v, args[i + 2], 1, true) == 1 then
      call('HDEL', H, name, args[i + 3])
      answer, i = 'R', i + 4
    end
  elseif op == 'M' and not full then
    -- One token of a mutex that nobody uses.
    if args[i + 2] ~= owner then
      owner = nil
      local v = call('HGET', H, args[i + 2])
      if v and #v > 64 then
        local state, known, _, ends, _, most = struct.unpack(SESSION, v)
        if state == 'L' and ends > now then
          owner, epoch, slots = args[i + 2], known, most
        end
      end
    end
    local slot, asks = args[i + 4], args[i + 5]
    local token = last < clock and clock or last + 1
    if owner and (epoch == asks or epoch < asks) and sub(slot, -3) + 0 <= slots and token <= MAX_TOKEN then
      local text = format('%.0f', token)
      local made = try('HSETNX', H, name, args[i + 3] .. 'mf1 1 ' .. text)
      if made == 1 then
        last, changed = token, true
        if call('HSETNX', H, slot, name) == 0 then
          -- It is not the session's only claim with this slot.
          local sid, claim = string.match(args[i + 3], '^S (%S+) (%d+) $')
          call('HSET', H, name, 's ' .. sid .. ' ' .. claim .. ' mf1 1 ' .. text)
          call('ZADD', O, 0, '@' .. sid .. '|' .. #name .. '|' .. name .. '|' .. claim)
        end
        answer, i = 'G ' .. text, i + 6
      elseif made ~= 0 and string.find(made.err, 'OOM ', 1, true) then
        -- It may be a claim that is there already.
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

-- The marks come with the first of what D has, and go with the last. A bucket that nobody has used yet stays as it is.
if due then
  local first = call('ZRANGEBYSCORE', D, '-inf', '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if first[1] == '!' and not lost then
    call('ZREM', D, '!')
    try('ZREM', O, '!')
    call('HDEL', H, '\255#')
    first = {}
  end
  soonest, changed = tonumber(first[2] or MAX_TOKEN), changed or meta
  empty = not marked and first[1]
end
if lost then
  soonest, changed = 0, changed or meta
elseif empty and soonest < MAX_TOKEN then
  try('ZADD', D, '+inf', '!')
  try('ZADD', O, 0, '!')
end
-- Written in any case: what was reserved is never given again.
if changed then
  local done = try('HSET', H, META, struct.pack(COUNTERS, LAYOUT, last, number, soonest))
  -- What keeps a server from writing keeps it from the first write of a call: nothing was written, so nothing that was
  -- reserved was given away, and what was asked is answered. A replica is not asked at all.
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
