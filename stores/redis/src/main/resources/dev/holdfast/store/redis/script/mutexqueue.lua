-- The queue of a mutex, as long as all of it is in one field. Gives nothing, and has written nothing, if that is not so.

local RECORD = '^([SWsw]) (%S+) (%d+) (m%l%d+) 1 (%d+) ?(%d*)(.*)$'
local NEXT = '^;((%S+) %d+ )([sc])s 1 (%d+) 0(.*)$'
local WIDTHS = { M = 6, A = 8, a = 8, R = 4, Y = 10 }

-- A session that lives: its epoch, ttl, end, client and greatest slot, and its record; nothing if it does not.
local function look(id)
  local v = call('HGET', H, '\255' .. id)
  if v and #v > 64 then
    local state, known, ttl, ends, client, most = struct.unpack(SESSION, v)
    if state == 'L' and ends > now then
      return known, ttl, ends, client, most, v
    end
  end
end

-- A reference to a claim is what the record of its grant begins with. Notes that the claim stands at a name, and tells
-- where; or takes that back.
local function note(slot, ref, name, letter)
  local taken = letter and letter < 'a' and call('HDEL', H, slot)
  if taken then
    return
  elseif not letter and call('HSETNX', H, slot, name) == 1 then
    return 's'
  end
  local sid, claim = match(ref, '^%S (%S+) (%d+) $')
  local member = '@' .. sid .. '|' .. #name .. '|' .. name .. '|' .. claim
  if letter then
    call('ZREM', O, member)
  else
    call('ZADD', O, 0, member)
  end
  return 'c'
end

-- The answer to who waits: look again after a while, or when the holder may have ended, or the first of those before.
local function queued(ttl, held, before)
  local recheck = math.min(math.floor(ttl / 3), held - now)
  if before ~= '' then
    local _, _, ends = look(match(before, '^;(%S+)'))
    recheck = math.min(recheck, ends and ends - now or 1)
  end
  return format('Q %.0f', math.max(recheck, 1000))
end

-- A claim takes what nobody has, or what is just given up for it.
local function take(name, slot, ref, kind, want, letter, oldslot, oldref)
  local first, ends = reserve(0, tonumber(want))
  if not first then
    return nil
  elseif letter then
    note(oldslot, oldref, name, letter)
  end
  local tokens = format(first == ends and '%.0f' or '%.0f %.0f', first, ends)
  call('HSET', H, name, (note(slot, ref, name) == 's' and 'S' or 's') .. sub(ref, 2) .. kind .. ' ' .. tokens)
  return 'G ' .. tokens
end

-- The first of those who wait has it now. Who gives it away may be the last to wait for it again. What a grant leaves
-- behind goes first: who gives something back may do so where memory is full.
local function pass(name, letter, ref, slot, spec, queue, again, againslot, want)
  local heir, sid, at, wants, before = match(queue, NEXT)
  local _, held, client
  if heir then
    _, _, held, client = look(sid)
  end
  local first, ends
  if held then
    first, ends = reserve(0, tonumber(wants))
  end
  if not first then
    return nil
  end
  note(slot, ref, name, letter)
  local behind = again and before .. ';' .. sub(again, 3) .. note(againslot, again, name) .. 's 1 ' .. want .. ' 0' or before
  local tokens = format('%.0f %.0f', first, ends)
  local form = behind == '' and 'S ' or 'W '
  call('HSET', H, name, (at == 's' and form or string.lower(form)) .. heir .. spec .. ' 1 ' .. tokens .. behind)
  call(publishing(client), channels .. client, 'G ' .. heir .. tokens .. (behind == '' and ' 0 ' or ' 1 ') .. name)
  return held, before
end

local function hand(i)
  local op, name = args[i], args[i + 1]
  local asks, slot, kind, want, ttl
  if op ~= 'R' then
    -- Where the arguments of the claim begin that asks for something.
    local at = op == 'Y' and i + 5 or i + 3
    local known, length, _, _, most = look(sub(args[i + 2], 2))
    if not known or args[at + 2] < known or sub(args[at + 1], -3) + 0 > most then
      return nil
    end
    asks, slot, kind, want, ttl = args[at], args[at + 1], args[at + 3], args[at + 4], length
    if op == 'M' then
      kind, want = 'mf1 1', '1'
    end
  end
  local v = call('HGET', H, name)
  if not v then
    return asks and op ~= 'Y' and sub(kind, 1, 1) ~= 'l' and take(name, slot, asks, kind, want)
  end
  local letter, sid, claim, spec, first, ends, queue = match(v, RECORD)
  if not letter or asks and kind ~= spec .. ' 1' then
    return nil
  end
  local ref = 'S ' .. sid .. ' ' .. claim .. ' '
  if op == 'R' then
    if args[i + 2] ~= ref then
      return nil
    elseif queue ~= '' then
      return pass(name, letter, ref, args[i + 3], spec, queue) and 'R'
    end
    note(args[i + 3], ref, name, letter)
    call('HDEL', H, name)
    return 'R'
  elseif op == 'Y' then
    -- It may wait already, if it was asked for before.
    if args[i + 3] ~= ref or string.find(queue, ';' .. sub(asks, 3), 1, true) then
      return nil
    elseif queue == '' then
      return take(name, slot, asks, kind, want, letter, args[i + 4], ref)
    end
    local held, before = pass(name, letter, ref, args[i + 4], spec, queue, asks, slot, want)
    return held and queued(ttl, held, before)
  end
  local _, _, held, _, _, record = look(sid)
  if not held then
    return nil
  elseif asks == ref then
    return 'G ' .. first .. ' ' .. (ends == '' and first or ends) .. ' -1 ' .. (queue == '' and '0' or '1')
  end
  local place = string.find(queue, ';' .. sub(asks, 3), 1, true)
  if place then
    return queued(ttl, held, place == 1 and '' or queue)
  elseif op == 'a' then
    return { 'F', 't', sub(record, 66), tonumber(ends == '' and first or ends), held - now }
  elseif #v > ROOM then
    return nil
  end
  -- Not before it is noted: that is the write which may be refused.
  local noted = note(slot, asks, name)
  call('HSET', H, name, (letter < 'a' and 'W' or 'w') .. sub(v, 2) .. ';' .. sub(asks, 3) .. noted .. 's 1 ' .. want .. ' 0')
  return queued(ttl, held, queue)
end
