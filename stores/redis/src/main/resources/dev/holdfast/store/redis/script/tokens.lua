-- From here on, all is inside a function that is called once, when it is needed.

local match = string.match
local channels = sub(args[1], 2)

-- How a client is told: where it listens to the node of the slot alone, its name begins with an 's'.
local function publishing(client)
  return string.byte(client) == 115 and 'SPUBLISH' or 'PUBLISH'
end

-- The next tokens; nothing if there are no more. They end at the latest 16 ms ahead of the clock, and where they are more
-- than a second ahead of it, few are given; 125 microseconds are 128 tokens.
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
