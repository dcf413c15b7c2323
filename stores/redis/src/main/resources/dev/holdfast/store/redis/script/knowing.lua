-- From here on, all is inside a function that is called once, when it is needed.

local match, floor = string.match, math.floor
local channels = sub(args[1], 2)
local sessions = {}
local function session(id)
  local s = sessions[id]
  if s == nil then
    local v = call('HGET', H, '\255' .. id)
    if v then
      if #v < 65 then
        error('HFCORRUPT ' .. H, 0)
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
  local first = clock
  if from >= MAX_TOKEN or first > MAX_TOKEN then
    return nil
  end
  if from >= first then
    first = from + 1
  end
  local ends = first
  if want > 1 then
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
    return 'X'
  end
  if epoch < s.epoch then
    return 'S'
  end
end

