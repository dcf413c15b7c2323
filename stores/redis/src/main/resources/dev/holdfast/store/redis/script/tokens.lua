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
