-- The queue of a mutex, as long as all of it is in one field. Gives nothing, and has written nothing, if that is not so.

local RECORD = '^([SWsw]) (%S+) (%d+) (m%l%d+) 1 (%d+) ?(%d*)(.*)$'
local NEXT = '^;((%S+) %d+ )([sc])s 1 (%d+) 0(.*)$'

-- A reference to a claim is what the record of its grant begins with; this is what O has of it.
local function member(ref, name)
  local sid, claim = match(ref, '^%S (%S+) (%d+) $')
  return '@' .. sid .. '|' .. #name .. '|' .. name .. '|' .. claim
end

-- Notes that a claim stands at a name, and tells where.
local function enter(slot, ref, name)
  if call('HSETNX', H, slot, name) == 1 then
    return 's'
  end
  call('ZADD', O, 0, member(ref, name))
  return 'c'
end

-- What a grant leaves behind goes first: who gives something back may do so where memory is full.
local function leave(letter, slot, ref, name)
  if letter < 'a' then
    call('HDEL', H, slot)
  else
    call('ZREM', O, member(ref, name))
  end
end

local function block(first, ends)
  local text = format('%.0f', first)
  return first == ends and text or text .. format(' %.0f', ends)
end

-- The answer to who waits: look again when the holder may have ended, or the first of those before it, or after a while.
local function queued(s, holder, before)
  local recheck = math.min(floor(s.ttl / 3), holder.ends - now)
  if before ~= '' then
    local first = session(match(before, '^;(%S+)'))
    recheck = math.min(recheck, first and first.live and first.ends - now or 1)
  end
  return format('Q %.0f', math.max(recheck, 1000))
end

-- A claim takes what nobody has, or what is just given up for it.
local function take(name, slot, ref, kind, want, letter, oldslot, oldref)
  local first, ends = reserve(0, tonumber(want))
  if not first then
    return nil
  elseif letter then
    leave(letter, oldslot, oldref, name)
  end
  local tokens = block(first, ends)
  call('HSET', H, name, (enter(slot, ref, name) == 's' and 'S' or 's') .. sub(ref, 2) .. kind .. ' ' .. tokens)
  return 'G ' .. tokens
end

-- The first of those who wait has it now. The one who gives it away may be the last to wait for it again.
local function pass(name, letter, ref, slot, spec, queue, again, againslot, want)
  local heir, sid, at, wants, behind = match(queue, NEXT)
  local s = sid and session(sid)
  if not s or not s.live or s.ends <= now then
    return nil
  end
  local first, ends = reserve(0, tonumber(wants))
  if not first then
    return nil
  end
  leave(letter, slot, ref, name)
  local before = behind
  if again then
    behind = behind .. ';' .. sub(again, 3) .. enter(againslot, again, name) .. 's 1 ' .. want .. ' 0'
  end
  local form = behind == '' and 'S ' or 'W '
  local tokens = block(first, ends)
  call('HSET', H, name, (at == 's' and form or string.lower(form)) .. heir .. spec .. ' 1 ' .. tokens .. behind)
  call('PUBLISH', channels .. s.client, 'G ' .. heir .. format('%.0f %.0f', first, ends) .. (behind == '' and ' 0 ' or ' 1 ') .. name)
  return s, before
end

local WIDTHS = { M = 6, A = 8, a = 8, R = 4, Y = 10 }

local function hand(i)
  local op, name = args[i], args[i + 1]
  -- Where the arguments of a claim begin that asks for something.
  local at = op == 'Y' and i + 5 or i + 3
  local asks, slot, kind, want = args[at], args[at + 1], 'mf1 1', '1'
  local s
  if op ~= 'R' then
    local no = refusal(sub(args[i + 2], 2), args[at + 2])
    if no then
      return no
    end
    s = session(sub(args[i + 2], 2))
    if sub(slot, -3) + 0 > s.slots then
      return nil
    elseif op ~= 'M' then
      kind, want = args[at + 3], args[at + 4]
    end
  end
  local v = call('HGET', H, name)
  if not v then
    return s and op ~= 'Y' and sub(kind, 1, 1) ~= 'l' and take(name, slot, asks, kind, want)
  end
  local letter, sid, claim, spec, first, ends, queue = match(v, RECORD)
  local holder = sid and session(sid)
  if not holder or not holder.live or holder.ends <= now then
    return nil
  end
  local ref = 'S ' .. sid .. ' ' .. claim .. ' '
  if op == 'R' then
    if args[i + 2] ~= ref then
      return nil
    elseif queue ~= '' then
      return pass(name, letter, ref, args[i + 3], spec, queue) and 'R'
    end
    leave(letter, args[i + 3], ref, name)
    call('HDEL', H, name)
    return 'R'
  elseif kind ~= spec .. ' 1' then
    return nil
  elseif op == 'Y' then
    if args[i + 3] ~= ref then
      return nil
    elseif queue == '' then
      return take(name, slot, asks, kind, want, letter, args[i + 4], ref)
    end
    local heir, before = pass(name, letter, ref, args[i + 4], spec, queue, asks, slot, want)
    return heir and queued(s, heir, before)
  end
  if asks == ref then
    return 'G ' .. first .. ' ' .. (ends == '' and first or ends) .. ' -1 ' .. (queue == '' and '0' or '1')
  end
  local place = string.find(queue, ';' .. sub(asks, 3), 1, true)
  if place then
    return queued(s, holder, place == 1 and '' or queue)
  elseif op == 'a' then
    return { 'F', 't', holder.label, tonumber(ends == '' and first or ends), holder.ends - now }
  elseif #v > ROOM then
    return nil
  end
  -- Not before it is noted: that is the write which may be refused.
  local noted = enter(slot, asks, name)
  call('HSET', H, name, (letter < 'a' and 'W' or 'w') .. sub(v, 2) .. ';' .. sub(asks, 3) .. noted .. 's 1 ' .. want .. ' 0')
  return queued(s, holder, queue)
end
