-- The shortest cases: a name that nobody uses, and the release of its only grant that nobody waits for. Gives nothing
-- if it is another case.
local function short(i)
  local op, name, sid, claim = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  if op == 'A' then
    local spec = ARGV[i + 5]
    if ARGV[i + 7] ~= 's' or string.sub(spec, 1, 1) == 'l' or call('HGET', R, name) then
      return nil
    end
    local answer = refusal(sid, ARGV[i + 4])
    if answer then
      return answer
    end
    local first, ends = reserve(0, tonumber(ARGV[i + 9]))
    if not first then
      return nil
    end
    local weight = ARGV[i + 6]
    call('ZADD', C, 0, sid .. '|' .. #name .. '|' .. name .. '|' .. claim)
    call('HSET', R, name, format('1 0 %s %s s %s %s %s %.0f %.0f %s 0 %s %.0f %.0f 1 0 %s', sid, claim, spec, string.sub(spec, 3), weight, ends,
      nextnumber(), weight, ARGV[i + 9], first, ends, NONE))
    return { 'G', first, ends, -1, 0 }
  end
  local v = call('HGET', R, name)
  if not v then
    return { 'A' }
  end
  local alone = '1 0 ' .. sid .. ' ' .. claim .. ' s '
  if string.sub(v, 1, #alone) == alone then
    call('ZREM', C, sid .. '|' .. #name .. '|' .. name .. '|' .. claim)
    call('HDEL', R, name)
    return { 'R' }
  end
end

local run, sweep
if due and due[1] then
  run, sweep = machine()
  sweep(due)
end

local answers = { 0 }
local i, n = 2, #ARGV
while i <= n do
  local op, answer = ARGV[i], nil
  if (op == 'A' or op == 'R') and not ending and not crowded then
    local ok
    ok, answer = pcall(short, i)
    if not ok then
      sessions = {}
      -- The first write is the one that may fail.
      answer = { 'E', type(answer) == 'table' and answer.err or tostring(answer), 0 }
    end
    if answer then
      i = i + (op == 'A' and 11 or 4)
    end
  end
  if not answer then
    if not run then
      run, sweep = machine()
    end
    answer, i = run(i)
  end
  answers[#answers + 1] = answer
end

-- A bucket that nobody has used yet stays as it is.
if due then
  local first = call('ZRANGEBYSCORE', D, '-inf', '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  soonest = tonumber(first[2] or MAX_TOKEN)
  changed = changed or meta
end
-- Written in any case: what was reserved is never given again.
if changed then
  call('SET', M, format('1 %.0f %.0f %.0f', last, number, soonest))
end
if ending or crowded then
  answers[1] = 1
end
return answers
