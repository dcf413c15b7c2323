-- Operations on the queue of a mutex that is entirely in one field. They return nothing, and have written nothing, if it is not.

local RECORD = '^([SWsw]) (%S+) (%d+) (m%l%d+) 1 (%d+) ?(%d*)(.*)$'
local NEXT = '^;((%S+) %d+ )([sc])s 1 (%d+) %d+(.*)$'
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
  local behind = again and before .. ';' .. sub(again, 3) .. note(againslot, again, name) .. 's 1 ' .. want .. format(' %.0f', now) or before
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
  call('HSET', state, name, (letter < 'a' and 'W' or 'w') .. sub(v, 2) .. ';' .. sub(claimref, 3) .. noted .. 's 1 ' .. want .. format(' %.0f', now))
  return queued(ttl, holderends, queue)
end
