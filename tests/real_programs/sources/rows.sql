create table t(a integer, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000)
  insert into t select i * 7919 % 1000003, 'row ' || i from n;
create index t_a on t(a);
select count(*), sum(a), max(b) from t where a % 3 = 1;
select b from t order by a limit 5;
