-- From here on, all is inside the function 'machine'. It gives a function that carries out the command at a place of the
-- arguments and tells where the next one begins, and one that ends what is due.

local HEADER = '^(%d+) (%d+) (%S+) (%d+) ([sbd%-]) (%l%l%d+)' .. string.rep(' (%d+)', 9) .. ' ([01]) (%d+) (%d+)$'
local RECORD = '^([gw]) (%d+) ([sbd]) (%d+) (%d+) (%d+) (%d+) (%d+) ([01]) (%d+) (%d+)$'
-- Grants that are looked at one by one for the earliest of their ends.
local FEW = 8
local wrote = false

-- All that writes, so that a failure can say whether something had been written before it.
local function put(...)
  wrote = true
  return call(...)
end

local function prefix(name)
  return #name .. '|' .. name .. '|'
end

local function claimkey(sid, name, claim)
  return sid .. '|' .. #name .. '|' .. name .. '|' .. claim
end

local function tell(s, message)
  put('PUBLISH', ARGV[1] .. s.client, message)
end

local function writesession(s)
  put('HSET', S, s.id, format('%s %s %.0f %.0f %s ', s.live and 'L' or 'X', s.epoch, s.ttl, s.ends, s.client) .. s.label)
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

-- From here on a session is over, whatever the clock does; what it has is ended after this, a part in each call.
local function mark(s)
  s.live = false
  writesession(s)
  endat(0, 's' .. s.id)
  tell(s, 'E ' .. s.id)
end
