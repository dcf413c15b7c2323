-- From here on, all is inside a function that is called once, when there is no shorter way.

-- What is in use under a name: a grant of a session, the only one, and who waits; a small letter if it has no slot. The last
-- token of the grant is left out if it is the first.
local SIMPLE = '^([SWsw]) (%S+) (%d+) (%l%l%d+) (%d+) (%d+) ?(%d*)(.*)$'
-- And everything else: the grants, who waits with a field of their own, the capacity, what of it is held, the newest
-- token, and what was declared; then one of the grants or '-'; then who waits.
local FULL = '^F (%d+) (%d+) (%d+) (%d+) (%d+) (%l%l%d+) ([^;]+)(.*)$'
local GRANT = '^(%S+) (%d+) ([sc])([sbd]) (%d+) (%d+) (%d+) (%d+) (%d+) ([01]) (%d+) (%d+)$'
local WAITER = '^;(%S+) (%d+) ([sc])([sbd]) (%d+) (%d+) (%d+)'
-- A claim with a field of its own.
local RECORD = '^([gw]) (%d+) ([sbd]) (%d+) (%d+) (%d+) (%d+) (%d+) ([01]) (%d+) (%d+)$'
-- The bounds of the slots of a session, which it has no more of than its claims have needed.
local SLOTS = { 63, 255, 999 }
-- Grants that are looked at one by one for the earliest of their ends.
local FEW = 8
-- Claims that one call admits from queues, or drops there, before it leaves the rest to the next; each name has one at least.
local admits = 100
-- Claims at a name that a step looks at one by one for those that have ended, while more is due than was ended.
local LOOK = 16
-- Claims, and names, that one call tells of for people, and those of one name that it tells of beside others; and grants that it
-- looks through for a token.
local PARTIES, SHOWN = 200, 100
-- Tokens of a block at the most.
local BLOCK = 16384
-- Microseconds after which who waits asks again while places are repaired; and for which a repair is not begun again.
local RETRY = 10000
local REPAIRED = 60000000
local DIGITS = -sub(args[1], 1, 1)
-- Whether the present step has written something, and whether it adds to what is kept: then it needs memory.
local wrote, adds = false, false

-- All that writes. A server with no memory left refuses a script whose first write may need some, and lets it write
-- whatever it likes once it has written anything: so what keeps, moves or ends something begins with what needs none.
local function put(...)
  local done = try(...)
  if type(done) == 'table' and done.err then
    if adds or full or not string.find(done.err, 'OOM ', 1, true) then
      error(done)
    end
    full = done.err
    call('HDEL', H, '\255?')
    done = call(...)
  end
  wrote = true
  return done
end

-- From here on the present step adds to what is kept. What was written until now only ended what was dead.
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
    local v = call('HGET', H, '\255' .. id)
    if v then
      if #v < 65 then
        corrupt(H)
      end
      local state, epoch, ttl, ends, client, slots = struct.unpack(SESSION, v)
      s = { id = id, live = state == 'L', epoch = epoch, ttl = ttl, ends = ends, client = client, slots = slots, label = sub(v, 66) }
    else
      s = false
    end
    sessions[id] = s
  end
  return s
end

-- Rises with each call, also when the counter was lost.
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

local function tell(s, message)
  put(publishing(s.client), channels .. s.client, message)
end

local function writesession(s)
  put('HSET', H, '\255' .. s.id, struct.pack(SESSION, s.live and 'L' or 'X', s.epoch, s.ttl, s.ends, s.client, s.slots) .. s.label)
end

-- Notes when something is to be ended.
local function endat(micros, what)
  put('ZADD', D, micros, what)
  if micros < soonest then
    soonest, changed = micros, true
  end
end

-- Whether a session has ended, told to the store or not.
local function over(s)
  return not s or not s.live or s.ends <= now
end

-- Why nothing new may come of a session; nothing if it may.
local function refusal(id, epoch)
  local s = session(id)
  if over(s) then
    return 'X'
  end
  if epoch < s.epoch then
    return 'S'
  end
end

-- From here on a session is over, whatever the clock does; what it has is ended after this, a part in each call.
local function mark(s)
  s.live = false
  writesession(s)
  endat(0, 's' .. s.id)
  tell(s, 'E ' .. s.id)
end
