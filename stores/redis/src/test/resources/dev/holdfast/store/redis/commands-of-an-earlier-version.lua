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
-- From here on everything is inside a function that is called at most once, when needed.

local match = string.match
local channels = sub(args[1], 2)

-- The command that publishes to a client; if it subscribes to sharded channels, its name starts with an 's'.
local function publishing(client)
  return string.byte(client) == 115 and 'SPUBLISH' or 'PUBLISH'
end

-- Reserves the next tokens; nothing if they are exhausted. A block ends at most 16 ms ahead of the clock, and is small if tokens
-- are over a second ahead of it; 125 microseconds are 128 tokens.
local function reserve(above, want)
  local from = last
  if above > from then
    from = above
  end
  local first = clock
  if from >= MAX_TOKEN or first > MAX_TOKEN then
    return nil
  end
  if from >= first then
    first = from + 1
  end
  local ends = first
  if want > 1 then
    if from > clock + 1024000 then
      ends = first + (want < 256 and want or 256) - 1
    else
      ends = first + want - 1
      if ends > clock + 16384 then
        ends = clock + 16384
      end
    end
    if ends < first then
      ends = first
    end
    if ends > MAX_TOKEN then
      ends = MAX_TOKEN
    end
  end
  last, changed = ends, true
  return first, ends
end

-- Operations on the queue of a mutex that is entirely in one field. They return nothing, and have written nothing, if it is not.

local RECORD = '^([SWsw]) (%S+) (%d+) (m%l%d+) 1 (%d+) ?(%d*)(.*)$'
local NEXT = '^;((%S+) %d+ )([sc])s 1 (%d+) 0(.*)$'
local ACQUIRE, TRY, YIELD = 'A', 'a', 'Y'
local WIDTHS = { [ACQUIRE_MUTEX] = 6, [ACQUIRE] = 8, [TRY] = 8, [RELEASE] = 4, [YIELD] = 10 }

-- The epoch, ttl, end, client, highest slot and record of a session; nothing if it has ended.
local function livesession(id)
  local v = call('HGET', state, '\255' .. id)
  if v and #v > 64 then
    local status, known, ttl, ends, client, most = struct.unpack(SESSION, v)
    if status == 'L' and ends > now then
      return known, ttl, ends, client, most, v
    end
  end
end

-- Records under its session that a claim exists at a name, and returns where; or, given a letter of the grant, removes that. A
-- claim reference is the prefix of the grant's record.
local function note(slot, ref, name, letter)
  local taken = letter and letter < 'a' and call('HDEL', state, slot)
  if taken then
    return
  elseif not letter and call('HSETNX', state, slot, name) == 1 then
    return 's'
  end
  local sid, claim = match(ref, '^%S (%S+) (%d+) $')
  local member = '@' .. sid .. '|' .. #name .. '|' .. name .. '|' .. claim
  if letter then
    call('ZREM', index, member)
  else
    call('ZADD', index, 0, member)
  end
  return 'c'
end

-- The reply to a waiter: poll again after a third of the ttl, or when the holder or the head of the queue may have ended.
local function queued(ttl, holderends, before)
  local recheck = math.min(math.floor(ttl / 3), holderends - now)
  if before ~= '' then
    local _, _, ends = livesession(match(before, '^;(%S+)'))
    recheck = math.min(recheck, ends and ends - now or 1)
  end
  return format('Q %.0f', math.max(recheck, 1000))
end

-- Grants a claim on a free mutex, or on one that is yielded for it.
local function take(name, slot, ref, kind, want, letter, oldslot, oldref)
  local first, ends = reserve(0, tonumber(want))
  if not first then
    return nil
  elseif letter then
    note(oldslot, oldref, name, letter)
  end
  local tokens = format(first == ends and '%.0f' or '%.0f %.0f', first, ends)
  call('HSET', state, name, (note(slot, ref, name) == 's' and 'S' or 's') .. sub(ref, 2) .. kind .. ' ' .. tokens)
  return 'G ' .. tokens
end

-- Passes the mutex to the head of the queue. After a yield, the next claim of the yielding session is added at the tail. The old
-- grant is removed first, so that a release works even if memory is full.
local function pass(name, letter, ref, slot, spec, queue, again, againslot, want)
  local nextref, sid, at, wants, before = match(queue, NEXT)
  local _, holderends, client
  if nextref then
    _, _, holderends, client = livesession(sid)
  end
  local first, ends
  if holderends then
    first, ends = reserve(0, tonumber(wants))
  end
  if not first then
    return nil
  end
  note(slot, ref, name, letter)
  local behind = again and before .. ';' .. sub(again, 3) .. note(againslot, again, name) .. 's 1 ' .. want .. ' 0' or before
  local tokens = format('%.0f %.0f', first, ends)
  local form = behind == '' and 'S ' or 'W '
  call('HSET', state, name, (at == 's' and form or string.lower(form)) .. nextref .. spec .. ' 1 ' .. tokens .. behind)
  call(publishing(client), channels .. client, 'G ' .. nextref .. tokens .. (behind == '' and ' 0 ' or ' 1 ') .. name)
  return holderends, before
end

local function handle(i)
  local op, name = args[i], args[i + 1]
  local claimref, slot, kind, want, ttl
  if op ~= RELEASE then
    -- Where the arguments of the requesting claim start.
    local at = op == YIELD and i + 5 or i + 3
    local known, length, _, _, most = livesession(sub(args[i + 2], 2))
    if not known or args[at + 2] < known or sub(args[at + 1], -3) + 0 > most then
      return nil
    end
    claimref, slot, kind, want, ttl = args[at], args[at + 1], args[at + 3], args[at + 4], length
    if op == ACQUIRE_MUTEX then
      kind, want = 'mf1 1', '1'
    end
  end
  local v = call('HGET', state, name)
  if not v then
    return claimref and op ~= YIELD and sub(kind, 1, 1) ~= 'l' and take(name, slot, claimref, kind, want)
  end
  local letter, sid, claim, spec, first, ends, queue = match(v, RECORD)
  if not letter or claimref and kind ~= spec .. ' 1' then
    return nil
  end
  local ref = 'S ' .. sid .. ' ' .. claim .. ' '
  if op == RELEASE then
    if args[i + 2] ~= ref then
      return nil
    elseif queue ~= '' then
      return pass(name, letter, ref, args[i + 3], spec, queue) and 'R'
    end
    note(args[i + 3], ref, name, letter)
    call('HDEL', state, name)
    return 'R'
  elseif op == YIELD then
    -- The next claim may be queued already, if this is a retry.
    if args[i + 3] ~= ref or string.find(queue, ';' .. sub(claimref, 3), 1, true) then
      return nil
    elseif queue == '' then
      return take(name, slot, claimref, kind, want, letter, args[i + 4], ref)
    end
    local holderends, before = pass(name, letter, ref, args[i + 4], spec, queue, claimref, slot, want)
    return holderends and queued(ttl, holderends, before)
  end
  local _, _, holderends, _, _, record = livesession(sid)
  if not holderends then
    return nil
  elseif claimref == ref then
    return 'G ' .. first .. ' ' .. (ends == '' and first or ends) .. ' -1 ' .. (queue == '' and '0' or '1')
  end
  local place = string.find(queue, ';' .. sub(claimref, 3), 1, true)
  if place then
    return queued(ttl, holderends, place == 1 and '' or queue)
  elseif op == TRY then
    return { 'F', 't', sub(record, 66), tonumber(ends == '' and first or ends), holderends - now }
  elseif #v > ROOM then
    return nil
  end
  -- Recorded first: that is the write that may be refused.
  local noted = note(slot, claimref, name)
  call('HSET', state, name, (letter < 'a' and 'W' or 'w') .. sub(v, 2) .. ';' .. sub(claimref, 3) .. noted .. 's 1 ' .. want .. ' 0')
  return queued(ttl, holderends, queue)
end

-- Executes the command at this position of the arguments, and returns its answer and where the next command starts; or ends the
-- members that are due.
local run, sweep

return function(i, members)
  local width = i and not crowded and not full and WIDTHS[args[i]]
  if width then
    local ok, answer = pcall(handle, i)
    if not ok then
      -- Only the first write can fail, so nothing was written.
      answer = { 'E', type(answer) == 'table' and answer.err or tostring(answer), 0 }
    end
    if answer then
      return answer, i + width
    end
  end
  if not run then
    run, sweep = (function()
-- From here on everything is inside a function that is called at most once, when the layers before can't serve a command.

-- The field of a name with one grant, bound to its session, and waiters; a lower-case letter if the grant has no slot. The last
-- token is omitted if it is also the first.
local SIMPLE = '^([SWsw]) (%S+) (%d+) (%l%l%d+) (%d+) (%d+) ?(%d*)(.*)$'
-- The field of a name in all other cases: the numbers of grants and of waiters with separate fields, the capacity, the weight
-- held, the newest token and the declaration; then one of the grants or '-'; then waiters.
local FULL = '^F (%d+) (%d+) (%d+) (%d+) (%d+) (%l%l%d+) ([^;]+)(.*)$'
local GRANT = '^(%S+) (%d+) ([sc])([sbd]) (%d+) (%d+) (%d+) (%d+) (%d+) ([01]) (%d+) (%d+)$'
local WAITER = '^;(%S+) (%d+) ([sc])([sbd]) (%d+) (%d+) (%d+)'
-- A claim with a separate field.
local RECORD = '^([gw]) (%d+) ([sbd]) (%d+) (%d+) (%d+) (%d+) (%d+) ([01]) (%d+) (%d+)$'
-- The possible values of a session's highest slot, which only grows when a claim needs it.
local SLOTS = { 63, 255, 999 }
-- How many grants are checked one by one for the earliest end.
local FEW = 8
-- How many queued claims one call grants or drops before it leaves the rest to the next call; at least one for each name.
local admits = 100
-- How many claims at a name a step checks for their end, while more is due than has been ended.
local MAX_CHECKED = 16
-- How many claims and names one inspecting call reports; how many claims of one name among others; and how many grants a forced
-- release checks per call.
local PARTIES, SHOWN = 200, 100
-- The largest token block.
local BLOCK = 16384
-- The poll interval of waiters during a repair, and the time for which no new repair starts; in microseconds.
local RETRY = 10000
local REPAIRED = 60000000
local DIGITS = -sub(args[1], 1, 1)
-- Whether the current step has written something, and whether it adds data, for which it needs memory.
local wrote, adds = false, false

-- All writes but those of the fast paths. A server without memory refuses a script whose first write may need some, but allows
-- every write after the first. So a step that keeps, moves or ends something starts with a write that needs no memory.
local function put(...)
  local done = try(...)
  if type(done) == 'table' and done.err then
    if adds or full or not string.find(done.err, 'OOM ', 1, true) then
      error(done)
    end
    full = done.err
    call('HDEL', state, '\255?')
    done = call(...)
  end
  wrote = true
  return done
end

-- From here on the current step adds data. Its writes so far only ended what was dead.
local function add()
  if full then
    error({ err = full })
  end
  wrote, adds = false, true
end

local function corrupt(key)
  error('HFCORRUPT ' .. key, 0)
end

local sessions = {}
local function session(id)
  local s = sessions[id]
  if s == nil then
    local v = call('HGET', state, '\255' .. id)
    if v then
      if #v < 65 then
        corrupt(state)
      end
      local status, epoch, ttl, ends, client, slots = struct.unpack(SESSION, v)
      s = { id = id, live = status == 'L', epoch = epoch, ttl = ttl, ends = ends, client = client, slots = slots, label = sub(v, 66) }
    else
      s = false
    end
    sessions[id] = s
  end
  return s
end

-- Increases with each call, even if the counter was lost.
local function nextnumber()
  number = number < now and now or number + 1
  changed = true
  return number
end

local function prefix(name)
  return #name .. '|' .. name .. '|'
end

local function keyof(c)
  return c.sid .. '|' .. #c.name .. '|' .. c.name .. '|' .. c.claim
end

local function slotof(c)
  return '\255c' .. c.sid .. ' ' .. sub('00' .. sub(c.claim, DIGITS), -3)
end

local function notify(s, message)
  put(publishing(s.client), channels .. s.client, message)
end

local function writesession(s)
  put('HSET', state, '\255' .. s.id, struct.pack(SESSION, s.live and 'L' or 'X', s.epoch, s.ttl, s.ends, s.client, s.slots) .. s.label)
end

-- Records when something ends.
local function endat(micros, what)
  put('ZADD', deadlines, micros, what)
  if micros < soonest then
    soonest, changed = micros, true
  end
end

-- Whether a session has ended, recorded or not.
local function hasended(s)
  return not s or not s.live or s.ends <= now
end

-- Why a session's command has no effect; nothing if it may have one.
local function refusal(id, epoch)
  local s = session(id)
  if hasended(s) then
    return 'X'
  end
  if epoch < s.epoch then
    return 'S'
  end
end

-- Marks a session as ended, even if the clock goes back. Its claims are ended afterwards, some in each call.
local function mark(s)
  s.live = false
  writesession(s)
  endat(0, 's' .. s.id)
  notify(s, 'E ' .. s.id)
end


local function fresh(name, spec)
  local res = { name = name, p = prefix(name), spec = spec, capacity = tonumber(sub(spec, 3)), heldweight = 0, grants = 0, newest = 0 }
  -- Near waiters are part of the field of the name; distant ones have separate fields and come after them.
  res.near, res.distant, res.queue = {}, 0, 0
  res.latch = sub(spec, 1, 1) == 'l'
  res.barging = sub(spec, 2, 2) == 'b'
  return res
end

-- The generation and the count of a latch; zeros if it was never set.
local function count(name)
  local v = call('HGET', state, '\255l' .. name)
  if not v then
    return NONE, NONE
  end
  local generation, left = match(v, '^(%d+) (%d+)$')
  if not generation then
    corrupt(state)
  end
  return generation, left
end

local function readnear(res, waiting)
  local at, ends = 1, nil
  while at <= #waiting do
    local c = { name = res.name, granted = false, first = 0, last = 0, picked = false, ends = 0, extension = NONE, near = true }
    at, ends, c.sid, c.claim, c.at, c.binding, c.weight, c.want, c.length = string.find(waiting, WAITER, at)
    if not at then
      corrupt(state)
    end
    c.weight, c.want, c.length = tonumber(c.weight), tonumber(c.want), tonumber(c.length)
    res.near[#res.near + 1] = c
    at = ends + 1
  end
end

local function readgrant(name, text)
  local sid, claim, at, binding, weight, length, seq, first, last, picked, ends, extension = match(text, GRANT)
  if not sid then
    corrupt(state)
  end
  return { name = name, sid = sid, claim = claim, at = at, granted = true, binding = binding, weight = tonumber(weight), length = tonumber(length),
    want = 1, seq = tonumber(seq), first = tonumber(first), last = tonumber(last), picked = picked == '1', ends = tonumber(ends), extension = extension }
end

local function read(name)
  local v = call('HGET', state, name)
  if not v then
    return nil
  end
  local res, waiting
  local letter, sid, claim, spec, weight, first, last, behind = match(v, SIMPLE)
  if letter then
    res, waiting = fresh(name, spec), behind
    res.grants, res.heldweight, res.newest = 1, tonumber(weight), tonumber(last == '' and first or last)
    res.inline = { name = name, sid = sid, claim = claim, at = letter < 'a' and 's' or 'c', granted = true, binding = 's', weight = res.heldweight, length = 0,
      want = 1, seq = tonumber(first), first = tonumber(first), last = res.newest, picked = false, ends = 0, extension = NONE }
  else
    local grants, distant, capacity, held, newest, declared, one, rest = match(v, FULL)
    if not grants then
      corrupt(state)
    end
    res, waiting = fresh(name, declared), rest
    res.grants, res.distant, res.capacity = tonumber(grants), tonumber(distant), tonumber(capacity)
    res.heldweight, res.newest = tonumber(held), tonumber(newest)
    res.inline = one ~= '-' and readgrant(name, one) or nil
  end
  readnear(res, waiting)
  res.known, res.queue = true, #res.near + res.distant
  if res.latch then
    res.generation, res.left = count(name)
  end
  return res
end

local function counting(res)
  return res.latch and (res.left or NONE) ~= NONE
end

local function isplain(res, c)
  return c and c.binding == 's' and res.grants == 1 and res.distant == 0 and res.newest == c.last and res.heldweight == c.weight
    and res.capacity == tonumber(sub(res.spec, 3))
end

local function write(res)
  if res.grants == 0 and res.queue == 0 and not counting(res) then
    if res.known then
      put('HDEL', state, res.name)
    end
    res.known = false
    return
  end
  local c, v = res.inline, nil
  if isplain(res, c) then
    local letter = #res.near > 0 and 'W' or 'S'
    v = format('%s %s %s %s %d %.0f', c.at == 's' and letter or string.lower(letter), c.sid, c.claim, res.spec, c.weight, c.first)
      .. (c.first < c.last and format(' %.0f', c.last) or '')
  else
    v = format('F %d %d %d %.0f %.0f %s ', res.grants, res.distant, res.capacity, res.heldweight, res.newest, res.spec)
      .. (c and format('%s %s %s%s %d %.0f %.0f %.0f %.0f %d %.0f %s', c.sid, c.claim, c.at, c.binding, c.weight, c.length, c.seq, c.first, c.last, c.picked and 1 or 0,
        c.ends, c.extension) or '-')
  end
  for _, w in ipairs(res.near) do
    v = v .. format(';%s %s %s%s %d %d %.0f', w.sid, w.claim, w.at, w.binding, w.weight, w.want, w.length)
  end
  put('HSET', state, res.name, v)
  res.known = true
end


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

local function enqueue(res, c)
  c.granted, res.queue = false, res.queue + 1
  if res.distant == 0 and #res.near * 64 < ROOM then
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
  c.granted, c.seq, c.first, c.last = true, first, first, ends
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

-- Grants queued claims from the head while they fit, notifies their sessions, and writes the resource. If that exceeds the bound
-- for one call, the next call continues; but all waiters of a latch pass at once, before its count may be set again.
local function settle(res)
  local admitted = {}
  local begun = false
  while res.queue > 0 do
    local c = head(res)
    if not c then
      break
    elseif begun and admits <= 0 and not res.latch then
      if isdead(c) or fits(res, c.weight) then
        endat(0, 'a' .. res.name)
        crowded = true
      end
      break
    elseif isdead(c) then
      drop(res, c)
      begun, admits = true, admits - 1
    elseif not fits(res, c.weight) then
      break
    else
      unlist(res, c)
      begun, admits = true, admits - 1
      if grant(res, c) then
        admitted[#admitted + 1] = c
      else
        unregister(c)
        notify(session(c.sid), format('C %s %s ', c.sid, c.claim) .. res.name)
      end
    end
  end
  write(res)
  for _, c in ipairs(admitted) do
    if c.binding ~= 's' then
      notify(session(c.sid), format('C %s %s ', c.sid, c.claim) .. res.name)
    else
      notify(session(c.sid), format('G %s %s %.0f %.0f %d ', c.sid, c.claim, c.first, c.last, res.queue > 0 and 1 or 0) .. res.name)
    end
  end
end

-- Whether the head of the queue should be granted or dropped: an earlier call made room but stopped at its bound, or the head has
-- ended. Unless more is due than a call ends, every end is already handled.
local function isoverdue(res)
  local c = res.queue > 0 and (crowded or res.latch or res.heldweight < res.capacity) and head(res)
  return c and (isdead(c) or fits(res, c.weight))
end

-- Loads a resource for a step: drops what has ended first, within the bound if there is much of it.
local function load(name)
  local res = read(name)
  if not res then
    return nil
  end
  local touched = false
  local function dropif(c, condition)
    if c and condition then
      drop(res, c)
      touched = true
    end
  end
  -- If the session was deleted by hand, nothing else would ever end this.
  local c = res.inline
  dropif(c, c and not outlives(c) and not session(c.sid))
  if crowded then
    dropif(res.inline, res.inline and isdead(res.inline))
    for _, each in ipairs(others(res, MAX_CHECKED)) do
      dropif(each, isdead(each))
    end
  end
  if touched or isoverdue(res) then
    settle(res)
  end
  return res.known and res or nil
end

-- A claim, unless it has ended, and its resource.
local function claimof(name, sid, claim)
  local res = load(name)
  local c = find(res, sid, claim)
  if c and crowded and isdead(c) then
    drop(res, c)
    settle(res)
    return nil, res.known and res or nil
  end
  return c, res
end

local function refused(res, spec, weight)
  if res and res.spec ~= spec then
    return { 'F', 'm', res.spec }
  end
  if res and weight > res.capacity then
    return { 'F', 'h', weight, res.capacity }
  end
end

local function taken(res)
  local c = res.inline
  if not c and res.grants > 0 and not res.latch then
    c = others(res, 1)[1]
  end
  if c then
    local s = session(c.sid)
    return { 'F', 't', s and s.label or '', c.last, left(c) }
  end
  return { 'F', 'w', counting(res) and 1 or 0 }
end

-- A claim that follows a yield (wait is 'y') is made even if memory is full: it takes the place of the one yielded.
local function acquire(name, sid, claim, epoch, spec, weight, binding, length, want, wait)
  local no = refusal(sid, epoch)
  if no then
    return no
  end
  local c, res = claimof(name, sid, claim)
  if c then
    return present(res, c)
  end
  weight = tonumber(weight)
  no = refused(res, spec, weight)
  if no then
    return no
  end
  if not res then
    res = fresh(name, spec)
    if res.latch then
      res.generation, res.left = count(name)
    end
  end
  c = { name = name, sid = sid, claim = claim, weight = weight, binding = binding, length = tonumber(length), want = tonumber(want), first = 0,
    last = 0, picked = false, ends = 0, extension = NONE }
  local isfree = fits(res, weight) and (res.queue == 0 or res.barging)
  if wait == 't' and not isfree then
    return taken(res)
  elseif wait ~= 'y' then
    add()
  end
  if isfree then
    if not grant(res, c) then
      return { 'F', 's' }
    end
    local answer = present(res, c)
    write(res)
    return answer
  end
  enqueue(res, c)
  write(res)
  return queued(res, c)
end

local function withdraw(name, sid, claim)
  local res = load(name)
  local c = find(res, sid, claim)
  if c then
    drop(res, c)
    settle(res)
  end
  return 'D'
end

local function grantof(name, sid, claim)
  local c, res = claimof(name, sid, claim)
  if c and c.granted then
    return c, res
  end
end

local function release(name, sid, claim)
  local c, res = grantof(name, sid, claim)
  if not c then
    return 'A'
  end
  drop(res, c)
  settle(res)
  return 'R'
end

local function poll(name, sid, claim)
  local c, res = claimof(name, sid, claim)
  if not c then
    return 'A'
  end
  return present(res, c)
end

local function yield(name, sid, claim, next, epoch, spec, weight, binding, length, want)
  local no = refusal(sid, epoch)
  if no then
    return no
  end
  local c, res = grantof(name, sid, claim)
  if c then
    if last >= MAX_TOKEN or clock > MAX_TOKEN then
      return { 'F', 's' }
    end
    no = refused(res, spec, tonumber(weight))
    if no then
      return no
    end
    drop(res, c)
    settle(res)
  end
  return acquire(name, sid, next, epoch, spec, weight, binding, length, want, 'y')
end

local function advance(name, sid, claim, blockend, want, above)
  local c, res = grantof(name, sid, claim)
  if not c then
    return 'A'
  end
  if format('%.0f', c.last) == blockend then
    local first, ends = reserve(tonumber(above), tonumber(want))
    if not first then
      return 'U'
    end
    c.first, c.last, res.newest = first, ends, ends
    if res.inline ~= c then
      keep(c)
    end
    write(res)
  end
  return format('V %.0f %.0f %d', c.first, c.last, res.queue > 0 and 1 or 0)
end

local function several(i, width, each)
  local answer = {}
  for n = 1, tonumber(args[i + 1]) do
    answer[n] = each(unpack(args, i + 2 + (n - 1) * width, i + 1 + n * width))
  end
  return answer
end

-- Runs a step; if it fails, that is its answer, and cached sessions are dropped.
local function safely(what, ...)
  wrote, adds = false, false
  local ok, answer = pcall(what, ...)
  if ok then
    return answer
  end
  sessions = {}
  return { 'E', type(answer) == 'table' and answer.err or tostring(answer), wrote and 1 or 0 }
end

local function rest()
-- From here on everything is inside the function 'rest' of the part 'dispatch'.

local function parsekey(key)
  local sid, length, rest = match(key, '^([^|]+)|(%d+)|(.*)$')
  length = tonumber(length)
  if not sid or #rest < length + 2 then
    corrupt(index)
  end
  return sid, sub(rest, 1, length), sub(rest, length + 2)
end

local function resource(touched, name)
  local res = touched[name]
  if res == nil then
    res = read(name) or false
    touched[name] = res
    if res then
      touched[#touched + 1] = res
    end
  end
  return res
end

-- The claim in a slot, if any, and its resource.
local function inslot(sid, slot, touched)
  local field = '\255c' .. sid .. ' ' .. slot
  local name = call('HGET', state, field)
  local res = name and resource(touched or {}, name)
  if res then
    for _, c in ipairs({ res.inline or res.near[1], unpack(res.near) }) do
      if c.sid == sid and c.at == 's' and slotof(c) == field then
        return c, res
      end
    end
  end
  if name and touched then
    put('HDEL', state, field)
  end
end

-- Removes the marks with the last deadline. If they are missing, the deadlines were lost.
local function unmark()
  local first = call('ZRANGEBYSCORE', deadlines, '-inf', '+inf', 'LIMIT', 0, 1)[1]
  if first == '!' and not lost then
    put('ZREM', deadlines, '!')
    put('ZREM', index, '!')
    put('HDEL', state, '\255#')
    soonest, changed = MAX_TOKEN, true
    -- Later commands of the same call add them again.
    marked, empty = nil, true
  elseif not first then
    lost = true
  end
end

-- Drops claims of an ended session, within a budget, and returns the rest of the budget.
local function sweepsession(sid, budget, touched)
  local s = session(sid)
  if s and s.live then
    mark(s)
  end
  if s then
    s.ending = true
  end
  local progress = '\255!' .. sid
  local from = call('HGET', state, progress) or '0'
  local done = false
  if s and sub(from, 1, 1) ~= '@' then
    local slot, most = tonumber(from), s.slots
    while slot <= most and budget > 0 do
      local ok, c, res = pcall(inslot, sid, format('%03d', slot), touched)
      if ok and c then
        drop(res, c)
      end
      slot, budget = slot + 1, budget - 1
    end
    from = slot > most and '@' or tostring(slot)
  end
  if budget > 0 then
    local keys = call('ZRANGEBYLEX', index, #from > 1 and sub(from, 1, 1) == '@' and '(' .. from or '[@' .. sid .. '|', '(@' .. sid .. '}', 'LIMIT', 0, budget)
    for _, key in ipairs(keys) do
      local _, name, claim = parsekey(sub(key, 2))
      local res = resource(touched, name)
      local c = res and find(res, sid, claim)
      if not c then
        -- The name was deleted by hand, so the rest of the claim is deleted too.
        local left = record(name, sid, claim)
        put('ZREM', index, key)
        if left then
          put('HDEL', state, '\255k' .. sub(key, 2))
          put('ZREM', index, place({ p = prefix(name) }, left))
        end
      elseif not outlives(c) then
        drop(res, c)
      end
    end
    done = #keys < budget
    from, budget = keys[#keys] or from, budget - #keys
  end
  if s then
    s.ending = nil
  end
  if done and lost then
    -- Repaired members may be before the position reached, so this starts over.
    done, from = false, '0'
  end
  if not done then
    put('HSET', state, progress, from)
    crowded = true
    return 0
  end
  put('HDEL', state, progress)
  put('ZREM', deadlines, 's' .. sid)
  unmark()
  if not isused(sid) then
    put('HDEL', state, '\255' .. sid)
    sessions[sid] = false
  end
  return budget
end

-- A day, in microseconds: how long the generation of an open latch is remembered.
local RETENTION = 86400000000

local function sweep(members)
  if lost then
-- One of the keys may be lost: evicted, or deleted by hand. The state contains everything in deadlines and index, except the ids
-- that have counted a latch down. So both are rebuilt from the state, some in each call: first everything that the state mentions
-- is added, then everything that it doesn't is removed from the index. Superfluous deadlines are detected when they are due.

-- How many fields of the state, or members of the index, one call handles.
local REPAIR = 100

-- The claims of a missing session end now.
local function restoreclaim(c)
  if c.at == 'c' then
    put('ZADD', index, 0, '@' .. keyof(c))
  end
  if c.binding ~= 's' and c.picked then
    endat(c.ends, 'l' .. keyof(c))
  end
  if not outlives(c) and not session(c.sid) then
    endat(0, 's' .. c.sid)
  end
end

local function restore(field)
  local kind, rest = sub(field, 2, 2), sub(field, 3)
  if sub(field, 1, 1) ~= META then
    local res = read(field)
    for _, c in ipairs({ res.inline or res.near[1], unpack(res.near) }) do
      restoreclaim(c)
    end
  elseif kind == 'k' then
    local sid, name, claim = parsekey(rest)
    local c = record(name, sid, claim)
    if call('HGET', state, name) then
      restoreclaim(c)
      put('ZADD', index, 0, place({ p = prefix(name) }, c))
    else
      put('HDEL', state, field)
    end
  elseif kind == 'l' then
    local _, remaining = count(rest)
    if remaining == NONE and not call('ZSCORE', deadlines, 'o' .. rest) then
      endat(now + RETENTION, 'o' .. rest)
    end
  elseif string.find(kind, '%d') then
    local s = session(sub(field, 2))
    endat(s.live and s.ends or 0, 's' .. s.id)
  end
end

-- Whether the state mentions a member of the index.
local function isknown(member)
  if member == '!' then
    return true
  elseif sub(member, 1, 1) == '@' then
    local sid, name, claim = parsekey(sub(member, 2))
    return find(read(name), sid, claim) or record(name, sid, claim)
  end
  local length, rest = match(member, '^(%d+)|(.*)$')
  local name, what = sub(rest, 1, length), sub(rest, length + 2)
  if sub(what, 1, 1) == 'i' then
    local _, remaining = count(name)
    return remaining ~= NONE
  end
  local sid, claim = match(what, '^[gw]%d+|([^|]+)|(%d+)$')
  local c = sid and record(name, sid, claim)
  return c and place({ p = prefix(name) }, c) == member
end

local function repair()
  local progress = call('HGET', state, '\255#')
  local at = progress and sub(progress, 1, 1) ~= 'e' and progress or 'h0'
  if sub(at, 1, 1) == 'h' then
    local page = call('HSCAN', state, sub(at, 2), 'COUNT', REPAIR)
    for i = 1, #page[2], 2 do
      -- Damaged data stays as it is.
      pcall(restore, page[2][i])
    end
    at = page[1] == '0' and 'o' or 'h' .. page[1]
  end
  if sub(at, 1, 1) == 'o' then
    local members = call('ZRANGEBYLEX', index, #at > 1 and '(' .. sub(at, 2) or '-', '+', 'LIMIT', 0, REPAIR)
    for _, member in ipairs(members) do
      local ok, known = pcall(isknown, member)
      if ok and not known then
        put('ZREM', index, member)
      end
    end
    lost = #members == REPAIR
    at = lost and 'o' .. members[REPAIR] or 'e' .. format('%.0f', now)
  end
  if lost or progress then
    put('HSET', state, '\255#', at)
  end
  sessions = {}
end
    pcall(repair)
  end
  local budget, touched = SWEEP_LIMIT, {}
  local function take(member)
    local kind, what = sub(member, 1, 1), sub(member, 2)
    if kind == 's' then
      if budget > 0 then
        budget = sweepsession(what, budget, touched)
      else
        crowded = true
      end
    elseif kind == 'a' then
      put('ZREM', deadlines, member)
      resource(touched, what)
    elseif kind == 'l' then
      local sid, name, claim = parsekey(what)
      local res = resource(touched, name)
      local c = res and find(res, sid, claim)
      put('ZREM', deadlines, member)
      if c then
        drop(res, c)
      end
    else
      local _, remaining = count(what)
      if remaining == NONE then
        put('HDEL', state, '\255l' .. what)
      end
      put('ZREM', deadlines, member)
    end
  end
  -- Damaged data stays as it is, and doesn't stop the rest.
  for _, member in ipairs(members) do
    pcall(take, member)
  end
  for _, res in ipairs(touched) do
    pcall(settle, res)
  end
  sessions = {}
end

local function shrink(name, sid, claim, weight)
  local c, res = grantof(name, sid, claim)
  if not c then
    return 'A'
  end
  local given = c.weight - tonumber(weight)
  if given > 0 then
    c.weight, res.heldweight = c.weight - given, res.heldweight - given
    if res.inline ~= c then
      keep(c)
    end
    settle(res)
  end
  return 'D'
end

local function extend(name, sid, claim, sequence, length)
  local c, res = grantof(name, sid, claim)
  if not c or c.binding == 's' then
    return 'A'
  end
  pickup(res, c)
  if sequence > c.extension then
    c.extension, c.ends = sequence, now + tonumber(length)
    endat(c.ends, 'l' .. keyof(c))
    update(res, c)
  end
  local remaining = c.ends - now
  return { 'T', c.extension, remaining < 1 and 1 or remaining }
end

-- Ends the grant that has a token, and notifies its session. Its place has the first of its tokens, so if it has had only one
-- block, that place is at most one block before the token; if it has advanced since, the place may be anywhere before. So this
-- searches the nearby places first, and then all from the oldest on. A call checks a bounded number of grants, and the next call
-- continues behind the last one: after is '' in the first call, '-' to start with the oldest, or else a place.
local function force(name, token, after)
  local res = load(name)
  token = tonumber(token)
  local function ends(c)
    if c and c.first <= token and token <= c.last then
      local s = session(c.sid)
      if s then
        notify(s, format('R %s %s ', c.sid, c.claim) .. name)
      end
      drop(res, c)
      settle(res)
      return true
    end
  end
  if not res then
    return 'A'
  elseif ends(res.inline) then
    return 'R'
  elseif after == '' then
    others(res, 1) -- starts a repair if their places are lost
  end
  local low, budget = math.max(0, token - BLOCK), PARTIES
  local function search(from, to)
    local places = call('ZRANGEBYLEX', index, from, '(' .. res.p .. format('g%016.0f}', to), 'LIMIT', 0, budget)
    for _, at in ipairs(places) do
      if ends(claimat(res, at)) then
        return 'R'
      end
    end
    budget = budget - #places
    return budget == 0 and { 'Y', sub(places[#places], #res.p + 1) }
  end
  local isbefore = after == '-' or after ~= '' and tonumber(sub(after, 2, 17)) <= low
  local answer
  if not isbefore then
    answer = search(after == '' and '(' .. res.p .. format('g%016.0f}', low) or '(' .. res.p .. after, token)
    after = '-'
  end
  if not answer then
    answer = search(after == '-' and '[' .. res.p .. 'g' or '(' .. res.p .. after, low)
  end
  return answer or 'A'
end

local function ids(res)
  return '[' .. res.p .. 'i', '(' .. res.p .. 'j'
end

local function writecount(res)
  put('HSET', state, '\255l' .. res.name, res.generation .. ' ' .. res.left)
end

local function latch(name)
  local res = load(name)
  if res and not res.latch then
    return nil, { 'F', 'm', res.spec }
  end
  if not res then
    res = fresh(name, 'lf1')
    res.generation, res.left = count(name)
  end
  return res
end

local function setcount(name, sid, epoch, generation, amount)
  local no = refusal(sid, epoch)
  if no then
    return no
  end
  local res
  res, no = latch(name)
  if no then
    return no
  end
  if res.left == NONE and generation > res.generation then
    add()
    res.generation, res.left = generation, amount
    writecount(res)
    put('ZREM', deadlines, 'o' .. name)
  end
  settle(res)
  return { 'N', res.generation, res.left }
end

-- Exact for 19 digits, and not below zero.
local function minus(a, b)
  if a <= b then
    return NONE
  end
  local high = string.sub(a, 1, 10) - string.sub(b, 1, 10)
  local low = string.sub(a, 11) - string.sub(b, 11)
  if low < 0 then
    high, low = high - 1, low + 1000000000
  end
  return format('%010.0f%09.0f', high, low)
end

local function countdown(name, generation, id, amount)
  local res, no = latch(name)
  if no then
    return no
  end
  if res.generation == generation and res.left ~= NONE and put('ZADD', index, 'NX', 0, res.p .. 'i' .. id) == 1 then
    res.left = minus(res.left, amount)
    if res.left == NONE then
      put('ZREMRANGEBYLEX', index, ids(res))
      endat(now + RETENTION, 'o' .. name)
    end
    writecount(res)
    settle(res)
  end
  return { 'N', res.generation, res.left }
end

local function resize(name, sid, epoch, capacity)
  local no = refusal(sid, epoch)
  if no then
    return no
  end
  local res = load(name)
  if not res then
    return 'A'
  end
  if string.sub(res.spec, 1, 1) ~= 's' then
    return { 'F', 'm', res.spec }
  end
  res.capacity = tonumber(capacity)
  for _, c in ipairs(waiters(res, -1)) do
    if c.weight > res.capacity then
      drop(res, c)
      local s = session(c.sid)
      if s then
        notify(s, format('C %s %s ', c.sid, c.claim) .. name)
      end
    end
  end
  settle(res)
  return 'D'
end

local function open(ttl, nonce, client, label)
  add()
  local s = { live = true, epoch = NONE, ttl = tonumber(ttl), client = client, slots = 15, label = label }
  s.id = format('%.0f.%s', nextnumber(), nonce)
  s.ends = now + s.ttl
  sessions[s.id] = s
  writesession(s)
  endat(s.ends, 's' .. s.id)
  return { 'O', s.id, s.ttl }
end

local function keepalive(sid, epoch)
  local no = refusal(sid, epoch)
  if no then
    return no
  end
  local s = session(sid)
  s.epoch, s.ends = epoch, now + s.ttl
  writesession(s)
  endat(s.ends, 's' .. sid)
  return 'L'
end

local function retire(sid)
  local s = session(sid)
  if not hasended(s) then
    s.epoch = '9223372036854775807'
    writesession(s)
  end
  return 'D'
end

local function close(sid)
  local s = session(sid)
  if not hasended(s) then
    local touched = {}
    sweepsession(sid, SWEEP_LIMIT, touched)
    for _, res in ipairs(touched) do
      settle(res)
    end
  end
  return 'D'
end

-- The claims of a session, in pages, those with slots first. The cursor is the next slot, or the last claim of a page.
local function audit(sid, after, limit)
  local s = session(sid)
  local ended = hasended(s)
  -- A claim that is not listed counts as lost, so nothing is listed until everything is repaired.
  if not (ended or call('ZSCORE', deadlines, '!') and call('ZSCORE', index, '!') or isrepaired()) or lost then
    error('HFREPAIR', 0)
  end
  local answer, count = { 'U', '' }, 0
  local function list(c)
    if c and (not ended or outlives(c)) then
      answer[#answer + 1] = c.granted and 1 or 0
      answer[#answer + 1] = c.name
      answer[#answer + 1] = c.claim
      count = count + 1
    end
  end
  limit = tonumber(limit)
  if s and not ended and sub(after, 1, 1) ~= '@' then
    for slot = tonumber(after) or 0, s.slots do
      if count == limit then
        answer[2] = tostring(slot)
        return answer
      end
      list(inslot(sid, format('%03d', slot)))
    end
    if count == limit then
      answer[2] = '@'
      return answer
    end
  end
  limit = limit - count
  local from = #after > 1 and sub(after, 1, 1) == '@' and '(' .. after or '[@' .. sid .. '|'
  local keys = call('ZRANGEBYLEX', index, from, '(@' .. sid .. '}', 'LIMIT', 0, limit + 1)
  for i, key in ipairs(keys) do
    if i <= limit then
      local _, name, claim = parsekey(sub(key, 2))
      list(find(read(name), sid, claim))
    else
      answer[2] = keys[limit]
    end
  end
  return answer
end

local function party(answer, c)
  local s = session(c.sid)
  for _, v in ipairs({ c.sid, c.claim, s and s.label or '', c.weight, c.first, c.last, left(c) }) do
    answer[#answer + 1] = v
  end
end

-- A page of the grants at a name, oldest first, behind a place; and the place of the last, if more follow.
local function page(res, after, most)
  local function seqof(at)
    return tonumber(match(at, '^g(%d+)|') or 0)
  end
  local places, all, inline = {}, {}, res.inline
  if inline and inline.seq <= seqof(after) then
    inline = nil
  end
  if res.grants > (res.inline and 1 or 0) then
    places = call('ZRANGEBYLEX', index, after == '' and '[' .. res.p .. 'g' or '(' .. res.p .. after, '(' .. res.p .. 'h', 'LIMIT', 0, most + 1)
    if not places[1] and after == '' then
      others(res, 1) -- starts a repair if their places are lost
    end
  end
  for _, at in ipairs(places) do
    if inline and inline.seq < seqof(sub(at, #res.p + 1)) then
      all[#all + 1] = place(res, inline)
      inline = nil
    end
    all[#all + 1] = at
  end
  if inline then
    all[#all + 1] = place(res, inline)
  end
  local found = {}
  for i = 1, math.min(most, #all) do
    local c = claimat(res, all[i])
    if not c and res.inline and all[i] == place(res, res.inline) then
      c = res.inline
    end
    found[#found + 1] = c
  end
  return found, all[most + 1] and sub(all[most], #res.p + 1)
end

-- The record of a name, with a page of its grants and its first waiters.
local function inspect(name, after, most, waiting)
  local res = load(name)
  if not res then
    return 'A', 0
  end
  local holding, queue = {}, {}
  local found, rest = page(res, after, most)
  for _, c in ipairs(found) do
    party(holding, c)
  end
  local all = waiting > 0 and waiters(res, waiting) or {}
  for _, c in ipairs(all) do
    party(queue, c)
  end
  return { 'I', res.spec, res.capacity, res.grants, res.heldweight, res.queue, res.newest, holding, queue, rest or nil }, #found + #all
end

-- The records of names, with their first holders and waiters. Names that are too much for one call are left to another.
local function inspectall(names)
  local answer, budget = {}, PARTIES
  for i, name in ipairs(names) do
    if budget > 0 then
      local count
      answer[i], count = inspect(name, '', SHOWN, SHOWN)
      budget = budget - 1 - count
    else
      answer[i] = 'L'
    end
  end
  return answer
end

-- The record of one name, with a page of its holders.
local function inspectone(name, after, most)
  return (inspect(name, after, math.min(most, PARTIES), after == '' and SHOWN or 0))
end

-- Fails with the name of a key that has another type, and leaves it as it is: no command of the script overwrites it.
local function check()
  for i, kind in ipairs({ 'hash', 'zset', 'zset' }) do
    local found = call('TYPE', KEYS[i])['ok']
    if found ~= kind and found ~= 'none' then
      corrupt(KEYS[i])
    end
  end
end

-- Does everything to the bucket that a step may do, and leaves it unchanged, even if something is not permitted. So a missing
-- permission is noticed at the start.
local function probe(client)
  check()
  for _, key in ipairs({ deadlines, index }) do
    put('ZREM', key, '!')
    put('ZREMRANGEBYLEX', key, '[!', '(!')
    call('ZSCORE', key, '!')
    call('ZRANGEBYSCORE', key, 1, 0)
    call('ZRANGEBYLEX', key, '[!', '(!', 'LIMIT', 0, 1)
    put('ZADD', key, 'XX', 0, '!')
  end
  put('HDEL', state, '\255?')
  call('HGET', state, '\255?')
  call('HSCAN', state, 0, 'COUNT', 1)
  local made, set = try('HSETNX', state, '\255?', ''), try('HSET', state, '\255?', '')
  put('HDEL', state, '\255?')
  for _, done in ipairs({ made, set }) do
    if type(done) == 'table' then
      error(done)
    end
  end
  notify({ client = client }, '')
  changed = true
  return 'D'
end

-- The other operations; the letters are those of ScriptCall.
local SHRINK, EXTEND, FORCE, SET_COUNT, COUNT_DOWN, RESIZE = 'H', 'T', 'F', 'N', 'D', 'Z'
local OPEN, KEEP_ALIVE, RETIRE, CLOSE, AUDIT = 'O', 'K', 'X', 'C', 'U'
local INSPECT, INSPECT_ONE, PROBE, SWEEP = 'I', 'L', '?', '.'

-- By operation: what serves it, and how many arguments it has.
local single = {
  [SHRINK] = { shrink, 4 }, [EXTEND] = { extend, 5 }, [FORCE] = { force, 3 },
  [SET_COUNT] = { setcount, 5 }, [COUNT_DOWN] = { countdown, 4 }, [RESIZE] = { resize, 4 },
  [OPEN] = { open, 4 }, [KEEP_ALIVE] = { keepalive, 2 }, [RETIRE] = { retire, 1 }, [CLOSE] = { close, 1 },
  [AUDIT] = { audit, 3 }, [INSPECT_ONE] = { inspectone, 3 }, [PROBE] = { probe, 1 },
  [SWEEP] = { function() return 'D' end, 0 }, -- the sweep comes before every command
}

local function other(i)
  if args[i] == INSPECT then
    return safely(inspectall, { unpack(args, i + 2, i + 1 + args[i + 1]) }), i + 2 + args[i + 1]
  end
  local served = single[args[i]]
  return safely(served[1], unpack(args, i + 1, i + served[2])), i + 1 + served[2]
end

return other, sweep
end

local other, sweep

-- The operations that 'mutexqueue' never serves; the letters are those of ScriptCall.
local ACQUIRE_LEASED, WITHDRAW, POLL, ADVANCE, YIELD_LEASED = 'B', 'W', 'P', 'V', 'y'

local function acquiring(i, kind, want, binding, length, wait)
  local sid, claim = match(args[i + 3], '^S (%S+) (%d+) $')
  local spec, weight = match(kind, '^(%S+) (%d+)$')
  return acquire(args[i + 1], sid, claim, args[i + 5], spec, weight, binding, length, want, wait)
end

local function yielding(i, binding, length)
  local sid, claim = match(args[i + 3], '^S (%S+) (%d+) $')
  local next = match(args[i + 5], '(%d+) $')
  local spec, weight = match(args[i + 8], '^(%S+) (%d+)$')
  return yield(args[i + 1], sid, claim, next, args[i + 7], spec, weight, binding, length, args[i + 9])
end

local function run(i)
  local op = args[i]
  if op == ACQUIRE_MUTEX then
    return safely(acquiring, i, 'mf1 1', '1', 's', 0, 'q'), i + 6
  elseif op == ACQUIRE then
    return safely(acquiring, i, args[i + 6], args[i + 7], 's', 0, 'q'), i + 8
  elseif op == TRY then
    return safely(acquiring, i, args[i + 6], args[i + 7], 's', 0, 't'), i + 8
  elseif op == ACQUIRE_LEASED then
    return safely(acquiring, i, args[i + 6], args[i + 7], args[i + 8], args[i + 9], args[i + 10]), i + 11
  elseif op == RELEASE then
    local sid, claim = match(args[i + 2], '^S (%S+) (%d+) $')
    return safely(release, args[i + 1], sid, claim), i + 4
  elseif op == WITHDRAW then
    return safely(withdraw, args[i + 1], args[i + 2], args[i + 3]), i + 4
  elseif op == POLL then
    return safely(several, i, 3, poll), i + 2 + 3 * args[i + 1]
  elseif op == ADVANCE then
    return safely(advance, unpack(args, i + 1, i + 6)), i + 7
  elseif op == YIELD then
    return safely(yielding, i, 's', 0), i + 10
  elseif op == YIELD_LEASED then
    return safely(yielding, i, args[i + 10], args[i + 11]), i + 12
  end
  if not other then
    other, sweep = rest()
  end
  return other(i)
end

return run, function(members)
  if not other then
    other, sweep = rest()
  end
  sweep(members)
end
    end)()
  end
  if members then
    sweep(members)
  else
    return run(i)
  end
end
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
