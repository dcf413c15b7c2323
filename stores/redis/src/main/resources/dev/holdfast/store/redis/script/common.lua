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
-- The annotations of grants, by claim: a sequence number and a text. In the slot of the bucket, but not among its keys, because
-- most calls don't use it. One hour after the last annotation it expires, with what earlier versions left in it.
local notes = sub(state, 1, -2) .. 'n'
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
